#include "runtime/local/warm/zygote_lifecycle.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace troupe::zygote {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds longest_delay{60'000};

} // namespace

zygote_lifecycle::zygote_lifecycle(
  boost::asio::any_io_executor strand, const zygote_options& options,
  interpreter_paths paths, std::shared_ptr<slot_provisioner> provisioner)
    : strand_{strand}, options_{options}, paths_{std::move(paths)},
      provisioner_{std::move(provisioner)}, learner_{options_, paths_},
      timer_{strand} {}

void zygote_lifecycle::listen(events on) {
  on_ = std::move(on);
}

void zygote_lifecycle::open() {
  if (!std::exchange(opened_, true))
    start();
}

void zygote_lifecycle::stop() {
  stopped_ = true;
  timer_.cancel();
  if (starting_)
    starting_->close();
  starting_.reset();
  if (auto z = std::exchange(current_, nullptr))
    retire(z);
}

void zygote_lifecycle::add_to(slot_counts& counts) const {
  counts.zygotes = (current_ ? 1u : 0u) + retiring_.size();
  counts.restarts = restarts_;
  counts.trouble = trouble_;
  if (!current_)
    return;
  counts.zygote_pid = current_->pid();
  counts.huge_pages = current_->huge_pages();
  counts.hot_blocks = current_->hot_blocks();
  counts.ready_pages = current_->ready_pages();
}

// -- one interpreter after the other

void zygote_lifecycle::start() {
  if (stopped_ || starting_ || !options_.enabled)
    return;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    trouble_
      = std::string{"no socket for an interpreter: "} + std::strerror(errno);
    return start_later();
  }
  auto z = std::make_shared<zygote_process>(strand_, unique_fd{pair[0]});
  starting_ = z;
  z->listen({
    .ready =
      [weak = weak_from_this(), z = std::weak_ptr{z}] {
        if (auto self = weak.lock())
          self->on_ready(z.lock());
      },
    .ended =
      [weak = weak_from_this(), z = std::weak_ptr{z}](std::string why) {
        if (auto self = weak.lock())
          self->on_end(z.lock(), std::move(why));
      },
    .slot_born =
      [weak = weak_from_this()](slot_ptr s) {
        if (auto self = weak.lock())
          self->on_.slot_born(std::move(s));
      },
    .slot_failed =
      [weak = weak_from_this()](slot_ptr s, error why) {
        if (auto self = weak.lock())
          self->on_.slot_failed(std::move(s), std::move(why));
      },
  });
  z->number = provisioner_->spawn_interpreter(
    interpreter_command(options_, paths_, purpose::serve,
                        learner_.known_profile()),
    unique_fd{pair[1]},
    [weak = weak_from_this(), z = std::weak_ptr{z}](error why) {
      auto self = weak.lock();
      if (auto it = z.lock(); self && it)
        self->on_end(it, std::move(why.text));
    });
}

void zygote_lifecycle::start_later() {
  delay_ = std::clamp(delay_ * 2, options_.restart_delay, longest_delay);
  timer_.expires_after(delay_);
  timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->start();
    });
}

void zygote_lifecycle::on_ready(const zygote_ptr& z) {
  if (!z || z != starting_)
    return;
  starting_.reset();
  delay_ = {};
  trouble_.clear();
  if (auto old = std::exchange(current_, z))
    retire(old);
  // Its age is looked at while it works and while it rests.
  check_age();
  on_.ready();
}

void zygote_lifecycle::on_end(const zygote_ptr& z, std::string why) {
  if (!z)
    return;
  z->close();
  std::erase(retiring_, z);
  const bool was_current = z == current_;
  if (!was_current && z != starting_)
    return;
  (was_current ? current_ : starting_).reset();
  ++restarts_;
  if (!current_) {
    trouble_ = std::move(why);
    // Its slots die with it and say so themselves, each by its end of file.
    on_.lost("the interpreter died");
  }
  start_later();
}

void zygote_lifecycle::check_age() {
  if (stopped_ || !current_)
    return;
  if (current_->runs >= options_.runs_per_zygote
      || clock::now() - current_->born >= options_.zygote_age)
    start();
  learner_.begin_if_due(
    runs_, [this](const std::string& path, unique_fd control) {
      provisioner_->spawn_interpreter(
        interpreter_command(options_, paths_, purpose::learn, path),
        std::move(control), [weak = weak_from_this()](error) {
          // One that knows the profile takes over.
          if (auto self = weak.lock(); self && self->learner_.on_end())
            self->start();
        });
    });
  const auto step = std::min<std::chrono::milliseconds>(
    options_.zygote_age / 4 + std::chrono::milliseconds{1},
    std::chrono::milliseconds{5'000});
  timer_.expires_after(step);
  timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->check_age();
    });
}

/// No new slots; those with work finish it, the others go at once.
void zygote_lifecycle::retire(const zygote_ptr& z) {
  z->retiring = true;
  retiring_.push_back(z);
  for (const auto& s : slots_of(z))
    on_.slot_retired(s);
  close_if_empty(z);
}

void zygote_lifecycle::close_if_empty(const zygote_ptr& z) {
  if (!z->retiring || z->slots > 0)
    return;
  z->close();
  if (z->hangs)
    provisioner_->kill_interpreter(z->number);
  std::erase(retiring_, z);
}

// -- its slots

std::vector<slot_ptr> zygote_lifecycle::slots_of(const zygote_ptr& z) const {
  std::vector<slot_ptr> found;
  for (const auto& [ticket, one] : slots_)
    if (one.of == z)
      found.push_back(one.s);
  return found;
}

result<void> zygote_lifecycle::make(const slot_ptr& s) {
  if (!current_)
    return unavailable("the interpreter died");
  const auto z = current_;
  if (auto made = z->make(s); !made)
    return made;
  slots_[s->ticket()] = {s, z};
  ++z->slots;
  return {};
}

void zygote_lifecycle::count_run(const slot& s) {
  ++runs_;
  if (const auto found = slots_.find(s.ticket()); found != slots_.end())
    ++found->second.of->runs;
}

bool zygote_lifecycle::is_retired(const slot& s) const {
  const auto found = slots_.find(s.ticket());
  return found == slots_.end() || found->second.of->retiring;
}

void zygote_lifecycle::release(const slot& s) {
  const auto found = slots_.find(s.ticket());
  if (found == slots_.end())
    return;
  const auto z = found->second.of;
  slots_.erase(found);
  z->forget(s);
  --z->slots;
  close_if_empty(z);
}

/// What runs in those that it has made ends there; then it is killed, since it
/// would hear nothing else.
void zygote_lifecycle::give_up(const slot& late) {
  constexpr const char* why = "the interpreter cannot create slots";
  const auto found = slots_.find(late.ticket());
  if (found == slots_.end())
    return;
  const auto z = found->second.of;
  const bool was_current = z == current_;
  if (was_current)
    current_.reset(); // first of all: it shall not be asked again
  z->hangs = true;
  for (const auto& s : slots_of(z))
    if (s->now == slot::state::making)
      on_.slot_failed(s, unavailable(why));
  if (!was_current)
    return;
  ++restarts_;
  trouble_ = why;
  retire(z);
  on_.lost(why);
  start_later();
}

} // namespace troupe::zygote
