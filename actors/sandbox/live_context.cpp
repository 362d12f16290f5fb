#include "actors/sandbox/live_context.hpp"

#include "runtime/model/codec/codec.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace troupe {

namespace {

constexpr std::size_t most_waiting = 64; // calls, of each kind

sandbox_error too_many_calls() {
  return {sandbox_problem::none, ec::exhausted,
          "so many calls about this context wait already",
          std::chrono::seconds{1}};
}

} // namespace

live_context::live_context(context_spec what, bool is_default,
                           environment_of around)
    : id_{make_context_id()}, what_{std::move(what)}, around_{
                                                        std::move(around)} {
  record_.id = id_;
  record_.name = what_.name;
  record_.language = what_.language;
  record_.cwd = what_.cwd;
  record_.is_default = is_default;
  record_.auto_restart = what_.auto_restart;
  record_.created_at = now();
}

live_context::live_context(saved_context_ptr from, environment_of around)
    : id_{from->id}, what_{from->what}, around_{std::move(around)}, from_{
                                                                      std::move(
                                                                        from)} {
  record_.id = id_;
  record_.name = what_.name;
  record_.language = what_.language;
  record_.cwd = what_.cwd;
  record_.is_default = from_->is_default;
  record_.auto_restart = what_.auto_restart;
  record_.created_at = now();
}

void live_context::at_place(work what) {
  boost::asio::post(around_.place.executor,
                    [self = shared_from_this(), what] { ((*self).*what)(); });
}

// -- for the sandbox ----------------------------------------------------------

void live_context::begin() {
  at_place(&live_context::start_kernel);
}

sandbox_result<sandbox_cell_ptr> live_context::enqueue(cell_spec what) {
  auto cell = std::make_shared<live_cell>(id_, std::move(what), around_.rules);
  {
    std::lock_guard lock{mutex_};
    if (closed_
        || (record_.state == context_state::lost && !what_.auto_restart))
      return lost();
    if (queue_.size() >= around_.rules.cell_queue)
      return sandbox_error{
        sandbox_problem::quota, ec::exhausted,
        "so many cells wait for this context as sandbox.cell-queue allows, "
          + std::to_string(around_.rules.cell_queue),
        std::chrono::seconds{1}};
    queue_.push_back(cell);
    record_.queued = queue_.size();
  }
  at_place(&live_context::pump);
  return sandbox_cell_ptr{cell};
}

/// With mutex_ held.
sandbox_error live_context::lost() const {
  return {sandbox_problem::context_lost, ec::conflict,
          "the context is lost with all that was defined in it ("
            + record_.detail + "); restart it, or use another one"};
}

void live_context::look() {
  at_place(&live_context::act_on_due);
}

bool live_context::never_began() const {
  std::lock_guard lock{mutex_};
  return record_.state == context_state::lost && record_.pid == 0;
}

void live_context::close(std::string why) {
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(closed_, true))
      return;
  }
  boost::asio::post(around_.place.executor,
                    [self = shared_from_this(), why = std::move(why)] {
                      ++self->generation_; // what comes of this one is late
                      self->kill_kernel();
                      self->kernel_.reset();
                      self->starting_ = self->restarts_ = false;
                      self->lose(why, cell_status::lost);
                    });
}

// -- for its callers ----------------------------------------------------------

context_record live_context::record() const {
  std::lock_guard lock{mutex_};
  return record_;
}

void live_context::when_ready(sandbox_handler<void> then) {
  boost::asio::post(
    around_.place.executor,
    [self = shared_from_this(), then = std::move(then)]() mutable {
      if (self->kernel_ && !self->restarts_)
        return then({});
      self->wait_until_ready(std::move(then));
    });
}

void live_context::wait_until_ready(sandbox_handler<void> then) {
  std::unique_lock lock{mutex_};
  if (closed_ || (!starting_ && !restarts_)) {
    const auto why = lost();
    lock.unlock();
    return then(why);
  }
  lock.unlock();
  if (until_ready_.size() >= most_waiting)
    return then(too_many_calls());
  until_ready_.push_back(std::move(then));
}

void live_context::interrupt(sandbox_handler<bool> then) {
  boost::asio::post(
    around_.place.executor,
    [self = shared_from_this(), then = std::move(then)]() mutable {
      if (!self->current_ || !self->kernel_)
        return then(sandbox_error{
          fail(ec::conflict, "the context runs no cell at this moment")});
      if (self->interrupts_.size() >= most_waiting)
        return then(too_many_calls());
      self->interrupts_.push_back(std::move(then));
      self->interrupt_cell();
    });
}

void live_context::restart(sandbox_handler<void> then) {
  boost::asio::post(
    around_.place.executor,
    [self = shared_from_this(), then = std::move(then)]() mutable {
      if (self->kernel_) {
        self->restarts_ = true;
        self->kill_kernel();
      } else {
        self->start_kernel();
        if (self->kernel_) // at once
          return then({});
      }
      self->wait_until_ready(std::move(then));
    });
}

} // namespace troupe
