#include "runtime/local/warm/warm_launcher_impl.hpp"
#include "runtime/runner/program.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace troupe::zygote {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds longest_delay{60'000};

std::string join(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names)
    all += (all.empty() ? "" : ",") + name;
  return all;
}

/// One per line, for the boot script.
std::string basic_variables() {
  std::string lines;
  for (const auto& [name, value] : script::basic_environment())
    lines += name + "=" + value.reveal() + "\n";
  return lines;
}

std::string tricks(const zygote_options& o) {
  std::string names;
  if (o.child_allocator)
    names += "allocator,";
  if (o.huge_text)
    names += "text,";
  if (o.huge_heap)
    names += "heap,";
  if (o.merged_maps)
    names += "maps,";
  if (o.joined_libraries)
    names += "libraries,";
  if (o.inherited_maps)
    names += "tables,";
  if (o.gathered_pages)
    names += "data,";
  if (o.cold_memory)
    names += "cold,";
  if (o.ready_pages)
    names += "pages,";
  if (o.idle_nursery)
    names += "nursery,";
  if (o.direct_seed)
    names += "seed,";
  return names;
}

} // namespace

/// As seen from where it begins: what it was told, its runs can find out.
std::string slot_carrier::impl::seen_from_home(const std::string& path) const {
  if (where_.home.empty() || path.empty())
    return path;
  return "./"
    + std::filesystem::path{path}.lexically_relative(where_.home).string();
}

std::vector<std::string> slot_carrier::impl::command(purpose what) const {
  std::vector<std::string> argv;
  // Its heap comes from the module (runtime/local/warm/node/v8_heap_layout.cpp)
  // before it starts.
  constexpr const char* env = "/usr/bin/env";
  if (where_.family == family::node && options_.gathered_pages
      && ::access(env, X_OK) == 0)
    argv = {env, "LD_PRELOAD=" + seen_from_home(where_.module)};
  argv.push_back(where_.interpreter);
  const auto add = [&argv](std::initializer_list<std::string> more) {
    argv.insert(argv.end(), more);
  };
  if (where_.family == family::python)
    // Isolated mode: neither variables nor the user's directories count.
    add({"-I", "-B", "-X", "utf8"});
  else
    // Threads of V8 would be missing in a child: it has none to ask. Its memory
    // reducer asks for one some seconds after the start, whatever the others
    // say, and Node waits for the answer before it ends an empty loop.
    add({"--no-warnings", "--single-threaded", "--v8-pool-size=0",
         "--no-flush-bytecode", "--no-memory-reducer"});
  // Code on huge pages is one entry of a page table where it were five hundred.
  // V8's own functions are part of it; it would copy them to where its heap is.
  if (where_.family == family::node && options_.huge_text)
    add({"--use-largepages=silent", "--no-short-builtin-calls"});
  // Two words of one length: an interpreter that learns asks for the same
  // blocks as one that serves, from its arguments on.
  add({seen_from_home(where_.boot), seen_from_home(where_.module),
       seen_from_home(where_.runners), where_.runners_inside,
       tricks(options_) + (what == purpose::learn ? "learn," : "serve,")});
  if (where_.family == family::python)
    add({join(options_.preload),
         what == purpose::learn || has_profile()
           ? seen_from_home(where_.profile)
           : ""});
  add({basic_variables()});
  return argv;
}

void slot_carrier::impl::hatch() {
  if (stopped_ || hatching_ || !options_.enabled)
    return;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    totals_.trouble = std::string{"no socket: "} + std::strerror(errno);
    return respawn_later();
  }
  auto z = std::make_shared<zygote_process>(strand_, unique_fd{pair[0]});
  hatching_ = z;
  z->listen({
    .ready =
      [weak = weak_from_this(), z = std::weak_ptr{z}] {
        if (auto self = weak.lock())
          self->on_interpreter_ready(z.lock());
      },
    .ended =
      [weak = weak_from_this(), z = std::weak_ptr{z}](std::string why) {
        if (auto self = weak.lock())
          self->on_zygote_end(z.lock(), std::move(why));
      },
    .slot_born =
      [weak = weak_from_this()](slot_ptr s) {
        if (auto self = weak.lock())
          self->on_slot_whole(s);
      },
    .slot_failed =
      [weak = weak_from_this()](slot_ptr s, error why) {
        if (auto self = weak.lock())
          self->on_slot_failed(s, why);
      },
  });
  z->number = provisioner_->hatch(
    command(purpose::serve), unique_fd{pair[1]},
    [weak = weak_from_this(), z = std::weak_ptr{z}](error why) {
      auto self = weak.lock();
      if (auto it = z.lock(); self && it)
        self->on_zygote_end(it, std::move(why.text));
    });
}

void slot_carrier::impl::respawn_later() {
  delay_ = std::clamp(delay_ * 2, options_.restart_delay, longest_delay);
  hatch_timer_.expires_after(delay_);
  hatch_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->hatch();
    });
}

void slot_carrier::impl::on_interpreter_ready(
  const std::shared_ptr<zygote_process>& z) {
  if (!z || z != hatching_)
    return;
  hatching_.reset();
  delay_ = {};
  totals_.trouble.clear();
  if (auto old = std::exchange(current_, z))
    retire(old);
  // Its age is looked at while it works and while it rests.
  renew_if_old();
  make_for_waiting();
}

void slot_carrier::impl::on_zygote_end(const std::shared_ptr<zygote_process>& z,
                                       std::string why) {
  if (!z)
    return;
  z->close();
  std::erase(retiring_, z);
  const bool was_current = z == current_;
  const bool was_hatching = z == hatching_;
  if (!was_current && !was_hatching)
    return;
  (was_current ? current_ : hatching_).reset();
  ++totals_.restarts;
  if (!current_)
    totals_.trouble = std::move(why);
  // Its slots die with it and say so themselves, each by its end of file.
  if (!current_)
    fail_waiting("the interpreter died");
  respawn_later();
}

/// Those that wait for a slot have nobody left to make it.
void slot_carrier::impl::fail_waiting(const std::string& why) {
  while (!waiting_.empty())
    fail(next_waiting(std::string{waiting_.begin()->first}), why);
}

/// It makes no slots any more, though it is alive. What runs in those that it
/// has made ends there; then it is killed, since it would hear nothing else.
void slot_carrier::impl::give_up(std::shared_ptr<zygote_process> z) {
  constexpr const char* why = "the interpreter cannot create slots";
  const bool was_current = z == current_;
  if (was_current)
    current_.reset(); // first of all: nobody shall ask it again
  z->hangs = true;
  for (const auto& s : pool_.all())
    if (const auto home = home_.find(s->ticket()); home != home_.end()
        && home->second == z && s->now == slot::state::making)
      on_slot_failed(s, unavailable(why));
  if (!was_current)
    return;
  ++totals_.restarts;
  totals_.trouble = why;
  retire(z);
  fail_waiting(why);
  respawn_later();
}

void slot_carrier::impl::renew_if_old() {
  if (stopped_ || !current_)
    return;
  if (current_->runs >= options_.runs_per_zygote
      || clock::now() - current_->born >= options_.zygote_age)
    hatch();
  learn_if_due();
  const auto step = std::min<std::chrono::milliseconds>(
    options_.zygote_age / 4 + std::chrono::milliseconds{1},
    std::chrono::milliseconds{5'000});
  hatch_timer_.expires_after(step);
  hatch_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->renew_if_old();
    });
}

/// No new slots; those with work finish it, the others go at once.
void slot_carrier::impl::retire(const std::shared_ptr<zygote_process>& z) {
  z->retiring = true;
  retiring_.push_back(z);
  for (const auto& s : pool_.all())
    if (const auto home = home_.find(s->ticket()); home != home_.end()
        && home->second == z
        && (s->now == slot::state::idle || s->now == slot::state::armed))
      destroy(s);
  close_if_empty(z);
}

void slot_carrier::impl::close_if_empty(
  const std::shared_ptr<zygote_process>& z) {
  if (!z->retiring || z->slots > 0)
    return;
  z->close();
  if (z->hangs)
    provisioner_->kill_interpreter(z->number);
  std::erase(retiring_, z);
}

} // namespace troupe::zygote
