#include "net/server/connection.hpp"

#include "net/server/io_worker.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>

namespace troupe::net {

namespace {

// A whole head fits, and enough of a body to make reading it cheap.
constexpr std::size_t buffer_limit = 64u << 10;
constexpr std::size_t read_size = 16u << 10;
// Answers to pipelined requests gather up to here, then they are written.
constexpr std::size_t out_limit = 64u << 10;
constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
// What a refused client may still send before it is cut off. One that sends a
// body that is too large often reads nothing before it has sent all of it.
constexpr std::size_t linger_limit = 64u << 20;

} // namespace

connection::connection(std::shared_ptr<io_worker> home, traits t)
    : home_{std::move(home)}, traits_{std::move(t)}, doorman_{home_->shared(),
                                                              traits_.loopback,
                                                              traits_.operators,
                                                              traits_.local},
      in_{
        std::max(buffer_limit, home_->shared().options.head_limit + read_size)},
      since_{home_->now()} {}

connection::~connection() {
  release_counts();
}

/// Gives back what it counted for, once.
void connection::release_counts() {
  if (std::exchange(left_, true))
    return;
  auto& shared = home_->shared();
  if (std::exchange(pending_.counted, false))
    shared.finished_one();
  shared.connections.fetch_sub(1);
  shared.addresses.leave(traits_.peer);
  if (traits_.on_reserved_descriptor)
    home_->restore_spare_fd();
}

void connection::read_deadline(clock::duration in) {
  read_by_ = clock::now() + in;
}

void connection::ready() {
  phase_ = phase::head;
  since_ = home_->now();
  // A silent connection is a slow head: it gets no more time than that.
  read_deadline(home_->shared().options.head_timeout);
  want_read();
}

std::string_view connection::buffered() const {
  auto data = in_.cdata();
  return {static_cast<const char*>(data.data()), data.size()};
}

bool connection::is_idle() const {
  return phase_ == phase::head && in_.size() == 0 && out_.empty()
    && !write_busy_ && !dead_;
}

void connection::close_if_idle() {
  if (is_idle())
    abort();
}

// -- reading -----------------------------------------------------------------

void connection::want_read() {
  if (reading_ || dead_ || peer_done_ || offered_ != 0)
    return;
  // Whoever sends ahead of our answers waits in the kernel's buffers.
  if (phase_ != phase::lingering
      && (in_.size() >= buffer_limit || out_.size() >= out_limit))
    return;
  // The buffer must not be emptied, and begin anew, under a read into it; yet a
  // client that goes while it is waited for must be seen.
  reading_ahead_ = in_.size() != 0
    && (phase_ == phase::handling || phase_ == phase::streaming);
  skipping_ = phase_ == phase::lingering;
  if (skipping_)
    in_.clear();
  wipe_read();
  const auto most = phase_ == phase::taken ? buffer_limit : read_size;
  auto room = std::min(most, in_.max_size() - in_.size());
  reading_ = true;
  if (reading_ahead_)
    read_some(boost::asio::buffer(ahead_, room));
  else if (skipping_)
    skip_some(in_.prepare(room));
  else
    read_some(in_.prepare(room));
}

/// What was read has been taken out, and may hold secrets.
void connection::wipe_read() {
  if (in_.size() != 0 || unwiped_ == 0)
    return;
  const auto all = in_.prepare(std::min(unwiped_, in_.capacity()));
  wipe(all.data(), all.size());
  unwiped_ = 0;
}

void connection::on_read(error_code ec, std::size_t n) {
  reading_ = false;
  if (std::exchange(reading_ahead_, false)) {
    boost::asio::buffer_copy(in_.prepare(n), boost::asio::buffer(ahead_, n));
    wipe(ahead_.data(), n);
  }
  unwiped_ += n;
  if (dead_)
    return;
  if (phase_ == phase::lingering) {
    skipped(ec, n);
    return;
  }
  if (phase_ == phase::taken) {
    read_taken(ec, n);
    return;
  }
  if (ec) {
    peer_closed(ec == boost::asio::error::eof);
    return;
  }
  home_->counts().bytes_in.add(n);
  if (phase_ == phase::head && in_.size() == 0)
    read_deadline(home_->shared().options.head_timeout); // its first byte
  in_.commit(n);
  process_input();
}

/// Whatever still comes behind the last answer goes nowhere: closing while it
/// comes would reset the connection, and the client never see the answer.
void connection::skipped(error_code ec, std::size_t n) {
  home_->counts().bytes_in.add(n);
  lingered_ += n;
  // A read from before may have ended with TLS, and not with the connection.
  if ((ec && skipping_) || lingered_ > linger_limit)
    abort();
  else
    want_read();
}

/// The client sends no more. What it has sent is answered: it may have closed
/// only its half. One that has closed both looks the same until something is
/// written to it, so something is: where nothing can be, it counts as gone, and
/// a stream to it ends with the connection.
void connection::peer_closed(bool cleanly) {
  peer_done_ = true;
  if (phase_ != phase::handling && phase_ != phase::streaming) {
    process_input();
    return;
  }
  if (cleanly && !probe_text().empty()) {
    probe();
  } else if (phase_ == phase::streaming) {
    log(stream_status_, stream_bytes_);
    abort();
  } else if (auto ex = handled_.lock()) {
    ex->notify_disconnect();
  }
}

/// What may be written at any time without meaning anything.
std::string_view connection::probe_text() const {
  if (phase_ == phase::streaming)
    return heartbeat_;
  return pending_.http10 ? std::string_view{} : go_on;
}

/// Twice, and the second one fails if nobody is there.
void connection::probe() {
  if (write_busy_ || dead_)
    return;
  if (phase_ == phase::streaming)
    append_chunk(heartbeat_);
  else
    out_ += probe_text();
  flush();
}

void connection::process_input() {
  if (pumping_)
    return;
  pumping_ = true;
  while (!dead_ && step()) {
  }
  pumping_ = false;
  if (dead_)
    return;
  // Half a request of somebody who sends no more.
  if (peer_done_ && out_.size() < out_limit
      && (phase_ == phase::head || phase_ == phase::body))
    closing_ = true;
  flush();
  if (!dead_ && !closing_)
    want_read();
}

/// One step; false when it takes more bytes, an answer or a write to go on.
bool connection::step() {
  if (closing_ || out_.size() >= out_limit || tail_)
    return false;
  switch (phase_) {
  case phase::head:
    return take_head();
  case phase::body:
    return take_body();
  case phase::handshake:
  case phase::handling:
  case phase::streaming:
  case phase::taken:
  case phase::lingering:
    return false;
  }
  return false;
}

bool connection::take_head() {
  auto bytes = buffered();
  if (!skipped_blank_ && bytes.starts_with("\r\n")) {
    in_.consume(2); // some clients end a body with one line too many
    skipped_blank_ = true;
    return true;
  }
  const auto& options = home_->shared().options;
  auto end = bytes.find("\r\n\r\n", scanned_ > 3 ? scanned_ - 3 : 0);
  if (end == std::string_view::npos || end + 4 > options.head_limit) {
    if (bytes.size() >= options.head_limit) {
      refuse_bytes(too_large_head(options.head_limit));
      return false;
    }
    if (auto bad = check_beginning(bytes, scanned_))
      refuse_bytes(*bad);
    scanned_ = bytes.size();
    return false;
  }
  auto ex = std::make_shared<exchange>(shared_from_this(), ++serial_);
  ex->in_.head.assign(bytes.substr(0, end + 4));
  in_.consume(end + 4);
  scanned_ = 0;
  skipped_blank_ = false;
  parser_.emplace(ex->in_, options);
  auto bad = parser_->read_head();
  pending_ = {};
  pending_.serial = serial_;
  pending_.open = true;
  pending_.began = clock::now();
  pending_.verb = ex->in_.verb;
  pending_.head_only = ex->in_.verb == method::head;
  pending_.http10 = ex->in_.http10;
  pending_.route_index = home_->shared().routes.routes().size();
  if (bad) {
    refuse(*ex, *bad);
    return false;
  }
  pending_.keep = parser_->wants_more() && !traits_.on_reserved_descriptor;
  admit(std::move(ex));
  return true;
}

bool connection::take_body() {
  auto bytes = buffered();
  if (bytes.empty())
    return false;
  auto& ex = *arriving_;
  auto before = ex.in_.body.size();
  std::optional<refusal> bad;
  auto used = parser_->feed(bytes, bad);
  in_.consume(used);
  auto grown = ex.in_.body.size() - before;
  if (!bad && parser_->chunked_body()) {
    bad = reserve(ex, grown);
    // An announced size bought its time at the start; this one buys as it goes.
    read_by_ += std::chrono::milliseconds{grown * 1000
                                          / home_->shared().options.body_rate};
  }
  if (!bad && used == 0 && in_.size() >= buffer_limit)
    bad = refusal{400, "bad_request", "malformed chunk"};
  if (bad) {
    auto dropped = std::move(arriving_);
    refuse(*dropped, *bad);
    return false;
  }
  if (parser_->finished()) {
    dispatch(std::move(arriving_));
    return true;
  }
  return used != 0 && in_.size() != 0;
}

// -- writing -----------------------------------------------------------------

void connection::flush() {
  if (write_busy_ || dead_)
    return;
  if (out_.empty()) {
    if (closing_)
      linger();
    return;
  }
  write_busy_ = true;
  writing_.swap(out_);
  out_.clear();
  stream_writing_ = std::exchange(stream_queued_, 0);
  const auto& options = home_->shared().options;
  // Absolute for these bytes: a reader of one byte a second ends here.
  write_by_ = clock::now() + options.write_timeout
    + std::chrono::milliseconds{writing_.size() * 1000 / options.body_rate};
  write_all(boost::asio::buffer(writing_));
}

void connection::on_written(error_code ec, std::size_t n) {
  write_busy_ = false;
  write_by_ = clock::time_point::max();
  if (dead_)
    return;
  if (ec) {
    abort();
    return;
  }
  home_->counts().bytes_out.add(n);
  last_write_ = home_->now();
  if (phase_ == phase::taken) {
    wrote_taken();
    return;
  }
  if (writing_.capacity() > out_limit * 2)
    std::string{}.swap(writing_); // one large answer should not stay for ever
  else
    writing_.clear();
  stream_written();
  process_input();
}

void connection::stream_written() {
  auto stream = tail_ ? tail_ : stream_;
  if (tail_ && stream_queued_ == 0)
    tail_.reset();
  if (auto n = std::exchange(stream_writing_, 0); stream && n != 0)
    stream->written(n);
}

} // namespace troupe::net
