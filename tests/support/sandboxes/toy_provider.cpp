#include "tests/support/sandboxes/toy_provider.hpp"

#include "tests/support/sandboxes/toy_kernel.hpp"
#include "tests/support/sandboxes/toy_process.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <fstream>
#include <iterator>

namespace troupe::test {

namespace fs = std::filesystem;
using boost::asio::awaitable;

namespace {

error no_such_room(const sandbox_handle& box) {
  return fail(ec::not_found, "there is no sandbox " + box.id);
}

error why_not(const std::string& path, std::error_code code) {
  return fail(code == std::errc::no_such_file_or_directory ? ec::not_found
                : code == std::errc::no_space_on_device    ? ec::no_space
                                                           : ec::conflict,
              path + ": " + code.message());
}

sandbox_entry entry_of(const fs::path& file, std::string path) {
  std::error_code ignored;
  sandbox_entry e;
  e.name = file.filename().string();
  e.path = std::move(path);
  e.folder = fs::is_directory(file, ignored);
  e.bytes = e.folder ? 0 : fs::file_size(file, ignored);
  return e;
}

} // namespace

toy_provider::~toy_provider() = default;

sandbox_capabilities toy_provider::capabilities() const {
  sandbox_capabilities can;
  can.reuse = true;
  can.renew = habits.renew;
  can.processes = habits.processes;
  can.terminals = habits.processes && habits.terminals;
  can.contexts = habits.contexts;
  can.pause = habits.pause;
  can.set_network = habits.set_network;
  can.snapshots = habits.snapshots;
  can.branches = habits.branches;
  can.outlives_engine = habits.outlives_engine;
  return can;
}

toy_provider::later<result<std::shared_ptr<sandbox_kernel>>>
toy_provider::start_kernel(const sandbox_handle& box, kernel_request what,
                           kernel_events events, call_scope) {
  if (!rooms_.contains(box.id))
    co_return no_such_room(box);
  if (habits.failing_kernels > 0) {
    --habits.failing_kernels;
    co_return fail(ec::unavailable, "the toy has no interpreter");
  }
  co_return std::shared_ptr<sandbox_kernel>{
    std::make_shared<toy_kernel>(executor_, std::move(events), what.image)};
}

toy_provider::later<result<kernel_image_ptr>>
toy_provider::save_kernel(const sandbox_handle&,
                          std::shared_ptr<sandbox_kernel> kernel,
                          call_scope scope) {
  if (habits.unbranchable_kernels > 0) {
    --habits.unbranchable_kernels;
    co_return fail(ec::conflict, "the toy has threads");
  }
  tell_begun(scope);
  if (habits.failing_saves > 0) {
    --habits.failing_saves;
    co_return fail(ec::unavailable, "the toy lost it");
  }
  co_return dynamic_cast<toy_kernel&>(*kernel).save();
}

toy_provider::later<sandbox_creation>
toy_provider::create(sandbox_request wanted, call_scope scope) {
  lifetime_ = wanted.lifetime.count();
  while (habits.hold_creations) {
    auto go_on = co_await troupe::pause(executor_, std::chrono::milliseconds{1},
                                        scope.deadline, scope.cancel);
    if (!go_on)
      co_return sandbox_creation{fail(ec::timeout, "it was given up")};
  }
  const bool fails = habits.failing_creations > 0;
  if (fails)
    --habits.failing_creations;
  if (fails && !habits.leave_behind)
    co_return sandbox_creation{fail(ec::unavailable, "the toy is broken")};
  sandbox_handle box;
  box.id = "toy-" + std::to_string(++made_);
  auto& r = rooms_[box.id];
  r.folder = folder_ / box.id;
  r.tag = wanted.tag;
  for (const auto& [name, value] : wanted.env)
    r.env[name] = value.reveal();
  r.lost = wanted.lost;
  if (!wanted.snapshot.empty() && !fs::exists(folder_ / wanted.snapshot)) {
    rooms_.erase(box.id);
    co_return sandbox_creation{fail(ec::not_found, "the snapshot is gone")};
  }
  if (!wanted.snapshot.empty())
    fs::copy(folder_ / wanted.snapshot, r.folder, fs::copy_options::recursive);
  fs::create_directories(r.folder / "tmp");
  living_ = rooms_.size();
  if (fails)
    co_return sandbox_creation{fail(ec::timeout, "no answer came"), true,
                               box.id};
  co_return sandbox_creation{box};
}

toy_provider::later<result<sandbox_handle>>
toy_provider::reconnect(sandbox_handle box, std::chrono::seconds lifetime,
                        call_scope) {
  if (!rooms_.contains(box.id) || habits.forget)
    co_return no_such_room(box);
  lifetime_ = lifetime.count();
  co_return box;
}

result<void> toy_provider::send_all(const sandbox_handle& box, int signal) {
  auto found = rooms_.find(box.id);
  if (found == rooms_.end())
    return no_such_room(box);
  if (habits.failing_pauses > 0) {
    --habits.failing_pauses;
    return fail(ec::unavailable, "the toy is restless");
  }
  for (auto& each : found->second.processes)
    if (auto process = each.lock())
      (void)process->signal(signal);
  return {};
}

toy_provider::later<result<void>>
toy_provider::set_network(const sandbox_handle&, network_policy, call_scope) {
  if (habits.failing_networks > 0) {
    --habits.failing_networks;
    co_return fail(ec::conflict, "the toy has begun without");
  }
  ++networks_;
  co_return result<void>{};
}

toy_provider::later<result<void>>
toy_provider::pause(const sandbox_handle& box, std::chrono::seconds lifetime,
                    call_scope) {
  lifetime_ = lifetime.count();
  co_return send_all(box, SIGSTOP);
}

toy_provider::later<result<void>>
toy_provider::resume(const sandbox_handle& box, std::chrono::seconds lifetime,
                     call_scope) {
  lifetime_ = lifetime.count();
  co_return send_all(box, SIGCONT);
}

toy_provider::later<result<place_snapshot>>
toy_provider::snapshot(const sandbox_handle& box, call_scope scope) {
  boost::asio::steady_timer look{executor_};
  while (habits.hold_snapshots
         && std::chrono::steady_clock::now() < scope.deadline) {
    look.expires_after(std::chrono::milliseconds{1});
    boost::system::error_code ignored;
    auto token
      = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
    co_await look.async_wait(token);
  }
  auto found = rooms_.find(box.id);
  if (found == rooms_.end())
    co_return no_such_room(box);
  if (habits.failing_snapshots > 0) {
    --habits.failing_snapshots;
    co_return fail(ec::exhausted, "the toy is full");
  }
  place_snapshot made;
  made.id = "snap-" + std::to_string(++taken_);
  made.bytes = 7;
  fs::copy(found->second.folder, folder_ / made.id,
           fs::copy_options::recursive);
  ++kept_;
  co_return made;
}

toy_provider::later<result<void>>
toy_provider::rollback(const sandbox_handle& box, std::string snapshot,
                       call_scope) {
  auto found = rooms_.find(box.id);
  if (found == rooms_.end() || !fs::exists(folder_ / snapshot))
    co_return no_such_room(box);
  fs::remove_all(found->second.folder);
  fs::copy(folder_ / snapshot, found->second.folder,
           fs::copy_options::recursive);
  co_return result<void>{};
}

toy_provider::later<result<void>>
toy_provider::forget_snapshot(std::string snapshot, call_scope) {
  if (fs::remove_all(folder_ / snapshot) > 0)
    --kept_;
  co_return result<void>{};
}

void toy_provider::lose(const std::string& id) {
  boost::asio::post(executor_, [this, id] {
    auto gone = rooms_.extract(id);
    living_ = rooms_.size();
    if (gone && gone.mapped().lost)
      gone.mapped().lost(fail(ec::unavailable, "the toy broke it"));
  });
}

result<std::shared_ptr<toy_process>>
toy_provider::begin(const sandbox_handle& box, process_request what,
                    bool open_input, process_events events) {
  auto found = rooms_.find(box.id);
  if (found == rooms_.end())
    return no_such_room(box);
  auto& r = found->second;
  auto env = r.env;
  for (auto& [name, value] : what.env)
    env[name] = value;
  what.env = std::move(env);
  auto cwd = inside(box, what.cwd.empty() ? "/" : what.cwd);
  if (!cwd)
    return cwd.error();
  auto begun
    = toy_process::start(executor_, what, *cwd, open_input, std::move(events));
  if (begun)
    r.processes.push_back(*begun);
  return begun;
}

toy_provider::later<result<sandbox_process_ptr>>
toy_provider::start(const sandbox_handle& box, process_request what,
                    bool open_input, process_events events, call_scope) {
  auto begun = begin(box, std::move(what), open_input, std::move(events));
  if (!begun)
    co_return begun.error();
  co_return sandbox_process_ptr{*begun};
}

toy_provider::later<process_outcome>
toy_provider::execute(const sandbox_handle& box, process_request what,
                      output_sink sink, call_scope scope) {
  boost::asio::steady_timer over{executor_, scope.deadline};
  auto end = std::make_shared<std::optional<result<process_end>>>();
  process_events events;
  events.output = std::move(sink);
  events.ended = [end, &over](result<process_end> how) {
    *end = std::move(how);
    over.cancel();
  };
  auto begun = begin(box, std::move(what), false, std::move(events));
  if (!begun)
    co_return process_outcome{begun.error(), false};
  auto process = *begun;
  if (scope.cancel)
    scope.cancel->on_cancel([process] { (void)process->signal(SIGKILL); });
  tell_begun(scope);
  boost::system::error_code ignored;
  co_await over.async_wait(
    boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  if (scope.cancel)
    scope.cancel->clear();
  if (*end && **end)
    co_return process_outcome{***end};
  (void)process->signal(SIGKILL);
  co_return process_outcome{fail(ec::timeout, "it took too long"), true};
}

toy_provider::later<process_outcome>
toy_provider::run_script(const sandbox_handle&, language, sandbox_script,
                         output_sink, call_scope) {
  co_return process_outcome{fail(ec::invalid_request, "toys run no scripts"),
                            false};
}

toy_provider::later<result<void>>
toy_provider::destroy(const sandbox_handle& box, call_scope) {
  if (habits.failing_deletions > 0) {
    --habits.failing_deletions;
    co_return fail(ec::unavailable, "the toy is stuck");
  }
  auto found = rooms_.find(box.id);
  if (found == rooms_.end())
    co_return result<void>{};
  for (auto& each : found->second.processes)
    if (auto process = each.lock())
      (void)process->signal(SIGKILL);
  std::error_code ignored;
  fs::remove_all(found->second.folder, ignored);
  rooms_.erase(found);
  living_ = rooms_.size();
  co_return result<void>{};
}

toy_provider::later<result<std::vector<tagged_sandbox>>>
toy_provider::list(call_scope) {
  if (habits.failing_lists > 0) {
    --habits.failing_lists;
    co_return fail(ec::unavailable, "the toy is asleep");
  }
  std::vector<tagged_sandbox> all;
  for (const auto& [id, r] : rooms_)
    all.push_back({id, r.tag});
  co_return all;
}

// -- files --------------------------------------------------------------------

result<fs::path> toy_provider::inside(const sandbox_handle& box,
                                      const std::string& path) const {
  auto found = rooms_.find(box.id);
  if (found == rooms_.end())
    return no_such_room(box);
  // What climbs above its root ends there, as in a real one.
  const auto clean = fs::path{path}.lexically_normal().relative_path();
  return found->second.folder / clean;
}

sandbox_files::later<void>
toy_provider::do_write(sandbox_handle in, std::vector<sandbox_file> files,
                       call_scope) {
  for (auto& each : files) {
    auto to = inside(in, each.path);
    if (!to)
      co_return to.error();
    std::error_code failed;
    fs::create_directories(to->parent_path(), failed);
    std::ofstream out{*to, std::ios::binary | std::ios::trunc};
    if (!out.write(each.content.data(),
                   static_cast<std::streamsize>(each.content.size())))
      co_return fail(ec::conflict, each.path + " cannot be written");
  }
  co_return result<void>{};
}

sandbox_files::later<std::string>
toy_provider::do_read(sandbox_handle in, std::string path, call_scope) {
  auto from = inside(in, path);
  if (!from)
    co_return from.error();
  if (!fs::exists(*from))
    co_return fail(ec::not_found, path + ": there is no such file");
  if (!fs::is_regular_file(*from))
    co_return fail(ec::conflict, path + " is no regular file");
  std::ifstream file{*from, std::ios::binary};
  co_return std::string{std::istreambuf_iterator<char>{file}, {}};
}

sandbox_files::later<std::vector<sandbox_entry>>
toy_provider::do_list(sandbox_handle in, std::string path, call_scope) {
  auto at = inside(in, path);
  if (!at)
    co_return at.error();
  std::error_code failed;
  fs::directory_iterator each{*at, failed};
  if (failed)
    co_return why_not(path, failed);
  std::vector<sandbox_entry> all;
  for (const auto& item : each)
    all.push_back(entry_of(item.path(),
                           (fs::path{path} / item.path().filename()).string()));
  co_return all;
}

sandbox_files::later<sandbox_entry>
toy_provider::do_stat(sandbox_handle in, std::string path, call_scope) {
  auto at = inside(in, path);
  if (!at)
    co_return at.error();
  if (!fs::exists(*at))
    co_return fail(ec::not_found, path + ": there is no such file");
  co_return entry_of(*at, path);
}

sandbox_files::later<void>
toy_provider::do_make_folder(sandbox_handle in, std::string path, call_scope) {
  auto at = inside(in, path);
  if (!at)
    co_return at.error();
  std::error_code failed;
  fs::create_directories(*at, failed);
  if (failed)
    co_return why_not(path, failed);
  co_return result<void>{};
}

sandbox_files::later<void> toy_provider::do_move(sandbox_handle in,
                                                 std::string from,
                                                 std::string to, call_scope) {
  auto source = inside(in, from);
  auto target = inside(in, to);
  if (!source || !target)
    co_return source ? target.error() : source.error();
  std::error_code failed;
  fs::create_directories(target->parent_path(), failed);
  fs::rename(*source, *target, failed);
  if (failed)
    co_return why_not(from, failed);
  co_return result<void>{};
}

sandbox_files::later<void>
toy_provider::do_remove(sandbox_handle in, std::string path, call_scope) {
  auto at = inside(in, path);
  if (!at)
    co_return at.error();
  std::error_code failed;
  if (fs::remove_all(*at, failed) == 0)
    co_return fail(ec::not_found, path + ": there is no such file");
  if (failed)
    co_return why_not(path, failed);
  co_return result<void>{};
}

} // namespace troupe::test
