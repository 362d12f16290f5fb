#include "net/server/exchange.hpp"

#include "net/http/problem.hpp"
#include "net/server/connection.hpp"

#include <algorithm>

namespace troupe::net {

exchange::exchange(std::shared_ptr<connection> home, std::uint64_t serial)
    : home_{std::move(home)}, serial_{serial} {}

exchange::~exchange() {
  if (listed_) {
    home_->streams().leave(*this);
    let_go(behind_);
  }
  home_->release_body(reserved_);
  if (answered_.exchange(true))
    return;
  // Whoever had it let it go: say so instead of leaving the client waiting.
  try {
    error why{ec::internal, "the request was dropped", {}, {}};
    auto writer = style_ ? style_ : &write_problem;
    auto r = writer(500, to_string(why.code), why, in_.id, {});
    if (before_answer_)
      before_answer_(r);
    home_->deliver(serial_, std::move(r));
  } catch (...) { // out of memory: the connection's own end will tell
  }
}

bool exchange::has_scope(scope needed) const {
  return (who_.scopes & static_cast<std::uint8_t>(needed)) != 0;
}

void exchange::answer(response r) {
  if (answered_.exchange(true))
    return;
  if (before_answer_)
    before_answer_(r);
  home_->deliver(serial_, std::move(r));
}

void exchange::answer_json(std::string body, int status) {
  response r;
  r.status = status;
  r.body = std::move(body);
  answer(std::move(r));
}

void exchange::fail(const error& why, std::string_view run_id) {
  auto writer = style_ ? style_ : &write_problem;
  auto status = status_of(why.code);
  auto r = writer(status, to_string(why.code), why, in_.id, run_id);
  add_retry_after(r, why);
  answer(std::move(r));
}

void exchange::refuse(int status, std::string_view code,
                      std::string_view text) {
  auto writer = style_ ? style_ : &write_problem;
  error why;
  why.text = std::string{text};
  answer(writer(status, code, why, in_.id, {}));
}

void exchange::open(response head, std::string_view heartbeat) {
  if (answered_.exchange(true))
    return;
  {
    std::lock_guard lock{mutex_};
    listed_ = true;
  }
  home_->streams().enter(shared_from_this());
  home_->open_stream(shared_from_this(), std::move(head), heartbeat);
}

void exchange::take_over(std::shared_ptr<connection_taker> by) {
  if (!answered_.exchange(true))
    home_->take_over(serial_, std::move(by));
}

const boost::asio::ip::address& exchange::peer() const {
  return home_->about().peer;
}

bool exchange::is_encrypted() const {
  return home_->about().tls;
}

void exchange::hold(std::size_t bytes) {
  if (!listed_)
    return;
  if (behind_.fetch_add(bytes) == 0)
    waits_since_ = clock::now();
  home_->streams().add(bytes);
}

void exchange::let_go(std::size_t bytes) noexcept {
  bytes = std::min(bytes, behind_.load());
  behind_ -= bytes;
  home_->streams().remove(bytes);
}

void exchange::written(std::size_t bytes) {
  {
    std::lock_guard lock{mutex_};
    in_connection_ -= bytes;
    let_go(bytes);
    waits_since_ = clock::now();
  }
  notify_drained();
}

void exchange::drop_tail() {
  std::lock_guard lock{mutex_};
  let_go(behind_);
}

void exchange::give_up() {
  bool schedule = false;
  std::string dropped;
  {
    std::lock_guard lock{mutex_};
    let_go(behind_); // what the connection has goes with it
    if (gone_)
      return;
    dropped.swap(unsent_);
    overflowed_ = finished_ = true;
    schedule = !std::exchange(scheduled_, true);
  }
  if (schedule) // later: whoever writes to another stream may hold its lock
    home_->call_after(
      std::chrono::milliseconds{0},
      [self = shared_from_this()] { self->home_->flush_stream(self); });
}

bool exchange::keeps_up() const {
  return unsent_.size() + in_connection_ <= home_->stream_buffer();
}

/// Half of the bound: a reader should not be woken for every few bytes.
bool exchange::caught_up() const {
  return unsent_.size() + in_connection_ <= home_->stream_buffer() / 2;
}

bool exchange::write(std::string_view piece) {
  bool schedule = false;
  bool fits = true;
  {
    std::lock_guard lock{mutex_};
    if (gone_ || finished_)
      return false;
    fits = keeps_up();
    if (fits) {
      unsent_ += piece;
      hold(piece.size());
    } else { // a reader that is too slow is no reader
      overflowed_ = finished_ = true;
    }
    schedule = !std::exchange(scheduled_, true);
  }
  if (schedule)
    home_->flush_stream(shared_from_this());
  home_->streams().keep_within_limit();
  return fits;
}

void exchange::finish() {
  bool schedule = false;
  {
    std::lock_guard lock{mutex_};
    if (finished_)
      return;
    finished_ = true;
    schedule = !std::exchange(scheduled_, true);
  }
  if (schedule)
    home_->flush_stream(shared_from_this());
}

bool exchange::has_room() {
  std::lock_guard lock{mutex_};
  return keeps_up();
}

void exchange::when_drained(std::function<void()> then) {
  {
    std::lock_guard lock{mutex_};
    if (gone_ || finished_)
      return;
    drained_ = std::move(then);
    if (!caught_up())
      return;
  }
  // It may have caught up before we asked: then nothing written will tell.
  home_->call_after(std::chrono::milliseconds{0},
                    [self = shared_from_this()] { self->notify_drained(); });
}

void exchange::notify_drained() {
  std::function<void()> then;
  {
    std::lock_guard lock{mutex_};
    if (!gone_ && !finished_ && caught_up())
      then.swap(drained_);
  }
  if (then)
    then();
}

void exchange::after(std::chrono::milliseconds time,
                     std::function<void()> then) {
  home_->call_after(time, std::move(then));
}

void exchange::on_disconnect(std::function<void()> told) {
  {
    std::lock_guard lock{mutex_};
    if (!gone_) {
      told_ = std::move(told);
      return;
    }
  }
  told();
}

void exchange::notify_disconnect() {
  std::function<void()> told;
  std::function<void()> dropped; // it may hold this exchange
  {
    std::lock_guard lock{mutex_};
    gone_ = true;
    unsent_.clear();
    let_go(behind_);
    told.swap(told_);
    dropped.swap(drained_);
  }
  if (told)
    told();
}

} // namespace troupe::net
