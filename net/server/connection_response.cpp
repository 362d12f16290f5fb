// How answers and streams find their way into the connection.
#include "net/http/response.hpp"
#include "net/server/connection.hpp"
#include "net/server/io_worker.hpp"

#include <charconv>

namespace troupe::net {

std::size_t connection::stream_buffer() const {
  const auto& shared = home_->shared();
  return shared.streams.share(shared.options.stream_buffer);
}

stream_budget& connection::streams() const {
  return home_->shared().streams;
}

void connection::deliver(std::uint64_t serial, response r) {
  if (home_->on_own_thread()) {
    delivered(serial, std::move(r));
    return;
  }
  if (home_->closed())
    return;
  home_->tasks().put(
    [self = shared_from_this(), serial, r = std::move(r)]() mutable {
      self->delivered(serial, std::move(r));
    });
}

void connection::call_after(std::chrono::milliseconds time,
                            std::function<void()> then) {
  home_->call_after(time, std::move(then));
}

void connection::delivered(std::uint64_t serial, response r) {
  if (dead_ || serial != pending_.serial || !pending_.open)
    return;
  bool keep = pending_.keep && !r.close && (!peer_done_ || in_.size() != 0)
    && !home_->shared().draining.load();
  compress(r);
  answer_frame frame;
  frame.date = home_->date();
  frame.request_id = pending_.request_id;
  frame.head_only = pending_.head_only;
  frame.http10 = pending_.http10;
  frame.keep = keep;
  frame.tls = traits_.tls;
  auto before = out_.size();
  append_answer(out_, r, frame);
  pending_.keep = keep;
  finish_request(r.status, out_.size() - before);
}

void connection::compress(response& r) const {
  const auto& options = home_->shared().options;
  if (!pending_.gzip || r.body.size() < options.gzip_from
      || r.body.size() > options.gzip_up_to || r.type.empty())
    return;
  if (auto small = gzip(r.body)) {
    r.body = std::move(*small);
    r.fields.emplace_back("content-encoding", "gzip");
    r.fields.emplace_back("vary", "accept-encoding");
  }
}

/// The request is over: count it, log it, go on to the next or say goodbye.
void connection::finish_request(int status, std::size_t bytes) {
  log(status, bytes);
  pending_.open = false;
  if (std::exchange(pending_.counted, false))
    home_->shared().finished_one();
  handled_.reset();
  if (stream_queued_ != 0 || stream_writing_ != 0)
    tail_ = std::move(stream_); // its memory is still counted
  stream_.reset();
  closing_ = !pending_.keep;
  phase_ = phase::head;
  since_ = home_->now();
  read_deadline(in_.size() == 0 ? home_->shared().options.idle_timeout
                                : home_->shared().options.head_timeout);
  if (closing_)
    read_by_ = clock::time_point::max(); // the write's deadline holds
  process_input();
}

void connection::log(int status, std::size_t bytes) {
  auto took = std::chrono::duration_cast<std::chrono::microseconds>(
    clock::now() - pending_.began);
  home_->counts().note(pending_.route_index, status, took);
  const auto& tell = home_->shared().options.access_log;
  if (!tell)
    return;
  auto peer = traits_.operators ? "operator" : traits_.peer.to_string();
  access_entry entry;
  entry.peer = peer;
  entry.method = to_string(pending_.verb);
  entry.route = pending_.route;
  entry.status = status;
  entry.bytes_out = bytes;
  entry.took = took;
  entry.request_id = pending_.request_id;
  entry.trace_id = pending_.trace_id;
  entry.organization = pending_.organization;
  entry.key_id = pending_.key_id;
  tell(entry);
}

// -- streams -----------------------------------------------------------------

void connection::open_stream(exchange_ptr ex, response head,
                             std::string_view heartbeat) {
  if (home_->on_own_thread()) {
    opened_stream(std::move(ex), std::move(head), heartbeat);
    return;
  }
  if (home_->closed())
    return;
  home_->tasks().put([self = shared_from_this(), ex = std::move(ex),
                      head = std::move(head), heartbeat]() mutable {
    self->opened_stream(std::move(ex), std::move(head), heartbeat);
  });
}

void connection::opened_stream(exchange_ptr ex, response head,
                               std::string_view heartbeat) {
  if (dead_ || ex->serial_ != pending_.serial || !pending_.open) {
    ex->notify_disconnect();
    return;
  }
  // Without chunks, as in HTTP/1.0, only the end of the connection is an end.
  if (pending_.http10)
    pending_.keep = false;
  answer_frame frame;
  frame.date = home_->date();
  frame.request_id = pending_.request_id;
  frame.head_only = pending_.head_only;
  frame.http10 = pending_.http10;
  frame.keep = pending_.keep && !home_->shared().draining.load();
  frame.chunked = !pending_.http10;
  frame.tls = traits_.tls;
  pending_.keep = frame.keep;
  auto before = out_.size();
  append_answer(out_, head, frame);
  stream_bytes_ = out_.size() - before;
  stream_ = std::move(ex);
  stream_status_ = head.status;
  heartbeat_ = heartbeat;
  last_write_ = home_->now();
  phase_ = phase::streaming;
  drain_stream(stream_);
  if (!dead_ && !pumping_)
    process_input();
}

void connection::flush_stream(exchange_ptr ex) {
  if (home_->on_own_thread()) {
    drain_stream(ex);
    if (!dead_ && !pumping_)
      flush();
    return;
  }
  if (home_->closed())
    return;
  home_->tasks().put([self = shared_from_this(), ex = std::move(ex)] {
    self->drain_stream(ex);
    if (!self->dead_)
      self->flush();
  });
}

void connection::append_chunk(std::string_view piece) {
  if (piece.empty() || pending_.head_only)
    return;
  auto before = out_.size();
  if (pending_.http10) {
    out_ += piece;
  } else {
    char size[16];
    auto end = std::to_chars(size, size + sizeof size, piece.size(), 16).ptr;
    out_.append(size, end);
    out_ += "\r\n";
    out_ += piece;
    out_ += "\r\n";
  }
  stream_bytes_ += out_.size() - before;
}

/// Moves what was written into the connection. Before the stream is open it
/// leaves everything where it is: opening comes back here.
void connection::drain_stream(const exchange_ptr& ex) {
  if (dead_ || (stream_ != ex && tail_ != ex))
    return;
  std::string piece;
  bool finished = false;
  bool overflowed = false;
  {
    std::lock_guard lock{ex->mutex_};
    ex->scheduled_ = false;
    piece.swap(ex->unsent_);
    ex->in_connection_ += piece.size();
    finished = ex->finished_;
    overflowed = ex->overflowed_;
  }
  if (overflowed) {
    home_->counts().streams_dropped.add();
    if (stream_ == ex)
      log(stream_status_, stream_bytes_);
    abort();
    return;
  }
  if (stream_ != ex)
    return;
  append_chunk(piece);
  stream_queued_ += piece.size();
  if (pending_.head_only) { // nobody will read: the head was the answer
    ex->notify_disconnect();
    finished = true;
  }
  if (!finished)
    return;
  if (!pending_.http10 && !pending_.head_only)
    out_ += "0\r\n\r\n";
  heartbeat_ = {};
  if (peer_done_ && in_.size() == 0)
    pending_.keep = false;
  finish_request(stream_status_, stream_bytes_);
}

} // namespace troupe::net
