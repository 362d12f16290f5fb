// A connection that something else than HTTP has taken over: bytes both ways,
// under the deadlines of every connection.
#include "net/server/connection.hpp"
#include "net/server/io_worker.hpp"
#include "net/server/takeover.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace troupe::net {

boost::asio::io_context::executor_type connection::executor() const {
  return home_->executor();
}

void connection::take_over(std::uint64_t serial, taker_ptr by) {
  if (home_->on_own_thread()) {
    taken(serial, std::move(by));
    return;
  }
  if (home_->closed())
    return;
  home_->tasks().put(
    [self = shared_from_this(), serial, by = std::move(by)]() mutable {
      self->taken(serial, std::move(by));
    });
}

void connection::taken(std::uint64_t serial, taker_ptr by) {
  if (dead_ || serial != pending_.serial || !pending_.open) {
    by->closed();
    return;
  }
  pending_.open = false;
  if (std::exchange(pending_.counted, false))
    home_->shared().finished_one();
  handled_.reset();
  phase_ = phase::taken;
  taker_ = std::move(by);
  read_deadline(connection_taker::longest_silence);
  auto self = shared_from_this();
  auto taker = taker_; // which may end us at once
  taker->begin(*this);
  if (dead_ || phase_ != phase::taken)
    return;
  flush(); // answers to requests before this one
  if (peer_done_ && in_.size() == 0)
    taker->ended();
  else if (in_.size() != 0)
    offer();
  else
    want_read();
}

void connection::read_taken(error_code ec, std::size_t n) {
  auto taker = taker_;
  if (ec && ec != boost::asio::error::eof)
    return abort(); // it is gone, and waits for no answer
  if (ec) {
    peer_done_ = true;
    if (offered_ == 0)
      taker->ended();
    return;
  }
  home_->counts().bytes_in.add(n);
  read_deadline(connection_taker::longest_silence);
  in_.commit(n);
  if (offered_ == 0)
    offer();
}

void connection::offer() {
  offered_ = in_.size();
  auto taker = taker_;
  taker->received(buffered());
}

void connection::next() {
  if (dead_ || phase_ != phase::taken)
    return;
  in_.consume(std::exchange(offered_, 0));
  if (in_.size() != 0) {
    offer();
  } else if (peer_done_) {
    auto taker = taker_;
    taker->ended();
  } else {
    want_read();
  }
}

void connection::send(boost::asio::const_buffer from) {
  taken_out_ = from;
  taken_waits_ = true;
  write_taken();
}

void connection::write_taken() {
  if (write_busy_ || dead_ || !taken_waits_)
    return;
  if (!out_.empty())
    return flush(); // answers from before go first
  taken_waits_ = false;
  write_busy_ = taken_writing_ = true;
  const auto& options = home_->shared().options;
  write_by_ = clock::now() + options.write_timeout
    + std::chrono::milliseconds{taken_out_.size() * 1000 / options.body_rate};
  read_deadline(connection_taker::longest_silence);
  write_all(taken_out_);
}

void connection::wrote_taken() {
  if (std::exchange(taken_writing_, false)) {
    auto taker = taker_;
    taker->sent();
    return;
  }
  writing_.clear(); // an answer from before
  write_taken();
}

void connection::end_taken() {
  if (dead_ || phase_ != phase::taken)
    return;
  leave_taker();
  in_.consume(in_.size());
  offered_ = 0;
  linger();
}

void connection::leave_taker() {
  auto gone = std::exchange(taker_, nullptr);
  if (!gone)
    return;
  log(gone->status(), 0);
  gone->closed();
}

} // namespace troupe::net
