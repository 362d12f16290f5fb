#include "runtime/local/launch/sandbox_abi.hpp"
#include "runtime/local/local_backend_impl.hpp"
#include "runtime/local/path_check.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace troupe {

namespace {

error refusal(ec code, std::string text,
              std::chrono::milliseconds retry_after = {}) {
  return {code, std::move(text), {}, retry_after};
}

} // namespace

result<void> local_backend::impl::admit(const prepared_run& run) const {
  if (stopping)
    return stopping_error();
  if (running.contains(run.id))
    return refusal(ec::conflict, "run " + run.id.str() + " runs already");
  if (waiting.size() >= options.max_own_waiting)
    return refusal(ec::exhausted,
                   "the local queue of "
                     + std::to_string(options.max_own_waiting)
                     + " runs is full",
                   std::chrono::seconds{1});
  if (run.mounts.size() > max_mounts)
    return bad_field("/mounts", "more than " + std::to_string(max_mounts));
  for (const auto& m : run.mounts)
    if (!is_plain_path(m.host) || !is_plain_path(m.inside))
      return bad_field("/mounts", "a path is not absolute and plain");
  if (!run.working_dir.empty() && !is_plain_path(run.working_dir))
    return bad_field("/working_dir", "the path is not absolute and plain");
  return {};
}

void local_backend::impl::accept(local_run_ptr run) {
  if (auto fine = admit(run->request()); !fine) {
    run->fail(fine.error());
    return;
  }
  waiting.push_back(std::move(run));
  pump();
}

void local_backend::impl::pump() {
  // The first runs wait for the first warden, whatever it will say.
  if (!probe.is_done())
    return;
  while (!waiting.empty() && running.size() < options.max_running) {
    auto run = std::move(waiting.front());
    waiting.pop_front();
    begin(run);
  }
}

void local_backend::impl::begin(const local_run_ptr& run) {
  const auto& request = run->request();
  if (request.deadline != local_run::clock::time_point{}
      && request.deadline <= local_run::clock::now()) {
    run->finish_unstarted(exit_reason::wall_timeout,
                          "its deadline passed in the queue");
    return;
  }
  if (!can_mount(request)) {
    run->fail(refusal(ec::unavailable,
                      "packages require isolation, which is off for this run"));
    return;
  }
  const bool has_source
    = request.kind != run_kind::command && !run->compile_only();
  const auto key = has_source ? code_cache::key_of(request) : std::string{};
  auto what = run->prepare(paths_for(request), mounts_for(request),
                           has_source ? codes.find(key) : std::string_view{});
  if (!what) {
    run->fail(what.error());
    return;
  }
  running.emplace(request.id, run);
  auto& by = launchers->choose(*what);
  if (auto ends = by.take_prepared_channels(*what))
    run->use_channels(std::move(*ends));
  listener->add(run);
  run->carry(
    by, std::move(*what),
    [self = shared_from_this(), id = request.id] { self->forget(id); });
  if (has_source && codes.wants(key, code_cache::options_of(request, by)))
    compile(request, key);
}

/// Without a tree of its own a run sees what is on the host, where it is there.
bool local_backend::impl::can_mount(const prepared_run& run) const {
  return (run.isolation != isolation_level::off && probe.has("private_tree"))
    || std::ranges::all_of(
           run.mounts, [](const bind_mount& m) { return m.host == m.inside; });
}

void local_backend::impl::compile(const prepared_run& like, std::string key) {
  auto run = std::make_shared<local_run>(strand, compile_request(like),
                                         silent_observer(), false);
  run->only_compile(
    [weak = weak_from_this(), key = std::move(key)](std::string answer) {
      auto self = weak.lock();
      if (!self)
        return;
      auto code = script::parse_compiled(answer);
      self->codes.put(key, code ? std::move(*code) : std::string{});
    });
  accept(std::move(run));
}

void local_backend::impl::forget(const run_id& id) {
  running.erase(id);
  if (waiting.empty() && !stopping)
    return;
  // Not from here: `begin` may be below us on the stack.
  asio::post(strand, [self = shared_from_this()] {
    self->pump();
    self->close_if_idle();
  });
}

void local_backend::impl::cancel(const run_id& id, exit_reason why) {
  if (auto i = running.find(id); i != running.end()) {
    i->second->end(why);
    return;
  }
  auto i = std::ranges::find_if(
    waiting, [&](const auto& run) { return run->request().id == id; });
  if (i == waiting.end())
    return;
  auto run = std::move(*i);
  waiting.erase(i);
  run->finish_unstarted(why, "ended in the queue");
}

script::program_paths
local_backend::impl::paths_for(const prepared_run& run) const {
  script::program_paths paths;
  paths.python = found.python.path;
  paths.node = found.node.path;
  paths.shell = options.shell;
  // Without a private tree the host's own path is the only one.
  paths.runners = run.isolation == isolation_level::off
    ? runner_directory(instance)
    : std::string{abi::runners};
  return paths;
}

std::vector<warden::start_order::mount_source>
local_backend::impl::mounts_for(const prepared_run& run) const {
  std::vector<warden::start_order::mount_source> shown;
  if (run.isolation == isolation_level::off)
    return shown;
  shown.push_back({runner_directory(instance), abi::runners, false});
  for (const auto& path : options.read_only_paths)
    shown.push_back({path, path, false});
  for (const auto& interpreter : {found.python, found.node})
    if (!interpreter.prefix.empty())
      shown.push_back({interpreter.prefix, interpreter.prefix, false});
  for (const auto& m : run.mounts)
    shown.push_back({m.host, m.inside, m.writable, true});
  return shown;
}

} // namespace troupe
