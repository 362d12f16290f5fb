#include "actors/sandbox/live_process.hpp"

#include "runtime/model/codec/codec.hpp"

#include <boost/asio/post.hpp>

#include <csignal>

namespace troupe {

namespace {

sandbox_error has_ended() {
  return {sandbox_problem::process_ended, ec::conflict,
          "the process has ended; what it said can still be read"};
}

sandbox_result<void> widened(result<void> came) {
  if (came)
    return {};
  return sandbox_error{came.error()};
}

} // namespace

live_process::live_process(const process_spec& what, const sandbox_rules& rules,
                           boost::asio::any_io_executor executor)
    : id_{make_process_id()}, executor_{std::move(executor)},
      out_{rules.window}, err_{rules.window} {
  record_.id = id_;
  record_.argv = what.program();
  record_.cwd = what.cwd;
  record_.tag = what.tag;
  record_.terminal = what.terminal;
  record_.started_at = now();
}

process_events live_process::events() {
  process_events e;
  auto self = shared_from_this();
  e.output = [self](output_stream which, std::string_view bytes) {
    self->append(which, bytes);
  };
  e.ended = [self](result<process_end> how) { self->ended(std::move(how)); };
  return e;
}

void live_process::begun(sandbox_process_ptr at_place) {
  const auto pid = at_place->pid();
  process_ = std::move(at_place);
  {
    std::lock_guard lock{mutex_};
    record_.pid = pid;
    if (record_.ended())
      process_.reset();
  }
  if (unwanted_)
    kill();
}

void live_process::begun_as_call(std::shared_ptr<cancellation> call) {
  call_ = std::move(call);
  if (unwanted_)
    kill();
}

void live_process::append(output_stream which, std::string_view bytes) {
  std::vector<reader> told;
  {
    std::lock_guard lock{mutex_};
    auto& window = which == output_stream::out ? out_ : err_;
    window.append(bytes);
    record_.stdout_bytes = out_.end();
    record_.stderr_bytes = err_.end();
    told.swap(readers_);
  }
  for (auto& each : told)
    each.then();
}

void live_process::ended(result<process_end> how) {
  process_.reset();
  call_.reset();
  std::unique_lock lock{mutex_};
  if (record_.ended())
    return;
  const bool by_us = wanted_ != process_reason::running;
  if (!how) {
    record_.detail = how.error().text;
    return finish(std::move(lock), by_us ? wanted_ : process_reason::lost);
  }
  record_.exit_code = how->exit_code;
  record_.signal = how->signaled ? how->signal : 0;
  record_.detail = std::move(how->detail);
  // One that ends well in the moment in which it is killed has ended well.
  const bool killed = how->signaled || how->exit_code >= 128;
  finish(std::move(lock),
         by_us && killed   ? wanted_
           : how->signaled ? process_reason::signaled
                           : process_reason::exited);
}

void live_process::finish(std::unique_lock<std::mutex> lock,
                          process_reason why) {
  record_.reason = why;
  record_.ended_at = now();
  auto readers = std::exchange(readers_, {});
  auto waiting = std::exchange(waiting_, {});
  lock.unlock();
  for (auto& each : readers)
    each.then();
  for (auto& each : waiting)
    each();
}

void live_process::end_because(process_reason why) {
  {
    std::lock_guard lock{mutex_};
    if (record_.ended())
      return;
    if (wanted_ == process_reason::running)
      wanted_ = why;
  }
  boost::asio::post(executor_, [self = shared_from_this()] { self->kill(); });
}

void live_process::kill() {
  unwanted_ = true; // if it has not begun yet, then as soon as it has
  if (process_)
    (void)process_->signal(SIGKILL); // gone already is as good
  if (call_)
    std::exchange(call_, nullptr)->cancel();
}

void live_process::is_lost(process_reason why) {
  std::unique_lock lock{mutex_};
  if (!record_.ended())
    finish(std::move(lock), why);
}

bool live_process::is_over() const {
  std::lock_guard lock{mutex_};
  return record_.ended();
}

std::size_t live_process::kept_bytes() const {
  std::lock_guard lock{mutex_};
  return out_.size() + err_.size();
}

// -- readers ------------------------------------------------------------------

process_record live_process::record() const {
  std::lock_guard lock{mutex_};
  return record_;
}

output_piece live_process::read(output_stream which, std::uint64_t from,
                                std::size_t most) const {
  std::lock_guard lock{mutex_};
  return (which == output_stream::out ? out_ : err_).read(from, most);
}

bool live_process::has_more(const output_offsets& read) const {
  return record_.ended() || out_.end() > read.out || err_.end() > read.err;
}

result<void> live_process::when_more(output_offsets read,
                                     std::function<void()> then) {
  std::unique_lock lock{mutex_};
  if (!has_more(read) && readers_.size() >= most_readers) {
    // Those that have gone meanwhile do not come back when they are told.
    auto told = std::exchange(readers_, {});
    lock.unlock();
    for (auto& each : told)
      each.then();
    lock.lock();
  }
  if (!has_more(read)) {
    if (readers_.size() >= most_readers)
      return fail(ec::exhausted, "this process has 64 readers already");
    readers_.push_back({read, std::move(then)});
    return {};
  }
  lock.unlock();
  then();
  return {};
}

void live_process::when_ended(std::function<void()> then) {
  std::unique_lock lock{mutex_};
  if (!record_.ended()) {
    waiting_.push_back(std::move(then));
    return;
  }
  lock.unlock();
  then();
}

void live_process::at_place(
  std::function<sandbox_result<void>(sandbox_process&)> what,
  sandbox_handler<void> done) {
  boost::asio::post(
    executor_,
    [self = shared_from_this(), what = std::move(what),
     done = std::move(done)] {
      if (self->process_)
        return done(what(*self->process_));
      if (self->is_over())
        return done(has_ended());
      if (!self->call_ && !self->unwanted_)
        return done(sandbox_error{sandbox_problem::none, ec::conflict,
                                  "the process has not begun yet; try again",
                                  std::chrono::seconds{1}});
      done(sandbox_error{sandbox_problem::unsupported_here, ec::invalid_request,
                         "a process at this place takes no input and no signal "
                         "but KILL; start it with all of its input"});
    });
}

void live_process::write(std::string bytes, sandbox_handler<void> done) {
  if (used_)
    used_();
  at_place(
    [bytes = std::move(bytes)](sandbox_process& p) -> sandbox_result<void> {
      return widened(p.write(bytes));
    },
    std::move(done));
}

void live_process::close_input(sandbox_handler<void> done) {
  at_place(
    [](sandbox_process& p) -> sandbox_result<void> {
      p.close_input();
      return {};
    },
    std::move(done));
}

void live_process::signal(std::int32_t number, sandbox_handler<void> done) {
  if (number == SIGKILL) {
    // The one that ends a call as well.
    boost::asio::post(executor_,
                      [self = shared_from_this(), done = std::move(done)] {
                        if (self->is_over())
                          return done(has_ended());
                        self->kill();
                        done({});
                      });
    return;
  }
  at_place(
    [number](sandbox_process& p) -> sandbox_result<void> {
      return widened(p.signal(number));
    },
    std::move(done));
}

void live_process::resize(terminal_size to, sandbox_handler<void> done) {
  at_place(
    [self = shared_from_this(),
     to](sandbox_process& p) -> sandbox_result<void> {
      auto came = p.resize(to);
      if (came) {
        std::lock_guard lock{self->mutex_};
        self->record_.terminal = to;
      }
      return widened(std::move(came));
    },
    std::move(done));
}

} // namespace troupe
