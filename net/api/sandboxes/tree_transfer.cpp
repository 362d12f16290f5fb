#include "net/api/sandboxes/tree_transfer.hpp"

#include "net/server/connection.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <array>
#include <charconv>
#include <utility>

namespace troupe::net {

namespace asio = boost::asio;

void tree_transfer::begin(connection& line) {
  line_ = line.shared_from_this();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return abort();
  unique_fd its{ends[1]};
  stream_.emplace(line.executor(), asio::local::stream_protocol{}, ends[0]);
  how_(std::move(its),
       [weak = weak_from_this(),
        executor = line.executor()](sandbox_result<archive_count> came) {
         asio::post(executor, [weak, came = std::move(came)] {
           if (auto self = weak.lock(); self && self->line_)
             self->done(came);
         });
       });
  opened();
}

void tree_transfer::closed() {
  line_.reset();
  error_code ignored;
  if (stream_)
    stream_->close(ignored);
}

void tree_transfer::abort() {
  if (auto line = line_)
    line->abort(); // which calls `closed`
}

void tree_transfer::finish() {
  if (auto line = line_)
    line->end_taken(); // which calls `closed`
}

// -- out ----------------------------------------------------------------------

void tree_download::opened() {
  line_->send(asio::buffer(out_)); // the head
}

void tree_download::received(std::string_view) {
  // Behind the request: for nobody.
}

void tree_download::sent() {
  if (over_)
    return finish();
  read_more();
}

void tree_download::read_more() {
  buffer_.resize(piece);
  stream_->async_read_some(
    asio::buffer(buffer_),
    [self = std::static_pointer_cast<tree_download>(shared_from_this())](
      error_code code, std::size_t n) {
      if (!self->line_)
        return;
      if (code) {
        self->all_read_ = true;
        return self->end_if_whole();
      }
      self->out_.clear();
      if (self->chunked_) {
        char digits[20];
        const auto end
          = std::to_chars(digits, digits + sizeof digits, n, 16).ptr;
        self->out_.assign(digits, end).append("\r\n");
      }
      self->out_.append(self->buffer_, 0, n);
      if (self->chunked_)
        self->out_ += "\r\n";
      self->line_->send(asio::buffer(self->out_));
    });
}

void tree_download::done(const sandbox_result<archive_count>& how) {
  if (!how)
    return abort(); // what has come of it is not all
  well_ = true;
  end_if_whole();
}

void tree_download::end_if_whole() {
  if (!all_read_ || !well_ || std::exchange(over_, true))
    return;
  if (!chunked_)
    return finish();
  out_ = "0\r\n\r\n";
  line_->send(asio::buffer(out_));
}

// -- in -----------------------------------------------------------------------

void tree_upload::opened() {
  if (out_.empty())
    return end_body(); // there may be none
  sending_ = true;
  line_->send(asio::buffer(out_));
}

void tree_upload::sent() {
  sending_ = false;
  if (replied_)
    finish();
  else if (reply_)
    reply();
  else
    end_body();
}

void tree_upload::received(std::string_view bytes) {
  held_.clear();
  if (reply_ || meter_.is_done())
    return; // behind the request: for nobody
  meter_.take(bytes, &held_);
  if (meter_.is_bad())
    return abort();
  asio::async_write(*stream_, asio::buffer(held_),
                    [self = std::static_pointer_cast<tree_upload>(
                       shared_from_this())](error_code code, std::size_t) {
                      // Where nothing more is taken, the answer is on its way.
                      if (!self->line_ || code || self->reply_)
                        return;
                      self->end_body();
                      if (!self->meter_.is_done())
                        self->line_->next();
                    });
}

void tree_upload::end_body() {
  error_code ignored;
  if (meter_.is_done())
    stream_->shutdown(asio::socket_base::shutdown_send, ignored);
}

void tree_upload::ended() {
  if (!meter_.is_done())
    abort(); // half a request
}

void tree_upload::done(const sandbox_result<archive_count>& how) {
  reply_ = answer_(how, status_);
  if (!sending_)
    reply();
}

void tree_upload::reply() {
  sending_ = replied_ = true;
  out_ = std::move(*reply_);
  line_->send(asio::buffer(out_));
}

} // namespace troupe::net
