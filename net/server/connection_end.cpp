// How a connection ends: with its last answer, by a deadline, or at once.
#include "net/server/connection.hpp"
#include "net/server/io_worker.hpp"

namespace troupe::net {

namespace {

// How often somebody who has closed his half is asked whether he is there.
constexpr std::chrono::milliseconds probe_every{250};

} // namespace

/// Says goodbye, then listens for a moment: closing at once with bytes unread
/// would reset the connection and take our answer with it.
void connection::linger() {
  if (phase_ == phase::lingering)
    return;
  phase_ = phase::lingering;
  shut_write();
  if (peer_done_) {
    abort();
    return;
  }
  read_deadline(home_->shared().options.linger_timeout);
  if (!reading_)
    want_read();
}

// -- the end -----------------------------------------------------------------

void connection::tick(clock::time_point now) {
  if (now >= write_by_) {
    home_->counts().timed_out.add();
    abort();
    return;
  }
  if (phase_ == phase::streaming && !heartbeat_.empty() && !write_busy_
      && now - last_write_ >= home_->shared().options.heartbeat) {
    append_chunk(heartbeat_);
    flush();
  }
  if (peer_done_ && now - last_write_ >= probe_every
      && (phase_ == phase::handling || phase_ == phase::streaming)
      && !probe_text().empty())
    probe();
  if (now < read_by_)
    return;
  home_->counts().timed_out.add();
  bool half
    = (phase_ == phase::head && in_.size() != 0) || phase_ == phase::body;
  if (!half || closing_) {
    abort();
    return;
  }
  read_by_ = clock::time_point::max();
  refusal late{408, "request_timeout", "the request did not arrive in time"};
  if (phase_ == phase::head) {
    refuse_bytes(late);
  } else {
    auto dropped = std::move(arriving_);
    refuse(*dropped, late);
  }
  if (!dead_)
    flush();
}

void connection::abort() {
  if (dead_)
    return;
  dead_ = true;
  auto self = shared_from_this(); // the last steps may drop the last owner
  unlink();
  close();
  release_counts();
  pending_.open = false;
  auto ex = handled_.lock();
  handled_.reset();
  if (ex)
    ex->notify_disconnect();
  if (arriving_)
    arriving_->answered_.store(true); // nobody is left to be told
  arriving_.reset();
  stream_.reset();
  if (auto ended = std::exchange(tail_, nullptr))
    ended->drop_tail();
  leave_taker();
}

} // namespace troupe::net
