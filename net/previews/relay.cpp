#include "net/previews/relay.hpp"

#include "net/http/problem.hpp"

#include <boost/asio/write.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {

namespace asio = boost::asio;

namespace {

constexpr unsigned most_interims = 16; // heads before the one that counts

} // namespace

relay::relay(order what) : what_{std::move(what)}, meter_{what_.body} {}

std::shared_ptr<relay> relay::tunnel(unique_fd server, std::string greeting,
                                     std::shared_ptr<void> counted) {
  auto made = std::make_shared<relay>(
    order{std::move(server), {}, {}, {}, std::move(counted)});
  made->opaque_ = true;
  made->out_ = std::move(greeting);
  return made;
}

void relay::begin(connection& line) {
  line_ = line.shared_from_this();
  server_.emplace(line.executor());
  boost::system::error_code bad;
  server_->assign(asio::ip::tcp::v4(), what_.server.release(), bad);
  if (bad) // its descriptor is closed with us
    return abort();
  server_->set_option(asio::ip::tcp::no_delay(true), bad);
  buffer_ = std::make_unique<std::array<char, piece>>();
  if (opaque_) {
    line.send(asio::buffer(out_)); // and when that is sent, what comes
    return;
  }
  to_server(what_.request);
  read_head();
}

// -- from the client ----------------------------------------------------------

void relay::to_server(std::string_view bytes) {
  writing_ = true;
  asio::async_write(
    *server_, asio::buffer(bytes.data(), bytes.size()),
    [self = shared_from_this()](boost::system::error_code code, std::size_t) {
      self->wrote(code);
    });
}

void relay::received(std::string_view bytes) {
  held_ = bytes;
  has_bytes_ = true;
  pass_on();
}

/// As much of what is held as is the server's business by now.
void relay::pass_on() {
  if (writing_ || !has_bytes_ || !line_)
    return;
  if (opaque_) {
    offered_ = held_.size();
    return to_server(held_);
  }
  if (meter_.is_done())
    return; // behind the request: for the other protocol, or for nobody
  offered_ = meter_.take(held_);
  if (meter_.is_bad())
    return fail("bad_request", "the body of the request is malformed");
  to_server(held_.substr(0, offered_));
}

void relay::wrote(boost::system::error_code code) {
  writing_ = false;
  if (!line_)
    return;
  if (code) {
    // It may have answered before it had read everything.
    has_bytes_ = false;
    return;
  }
  held_.remove_prefix(std::exchange(offered_, 0));
  if (has_bytes_ && held_.empty()) {
    has_bytes_ = false;
    line_->next();
  } else {
    pass_on();
  }
  if (client_done_ && opaque_ && !writing_ && !has_bytes_ && server_) {
    boost::system::error_code ignored;
    server_->shutdown(asio::socket_base::shutdown_send, ignored);
  }
}

void relay::ended() {
  client_done_ = true;
  if (!line_)
    return;
  if (!opaque_ && !meter_.is_done())
    return abort(); // half a request
  if (opaque_ && !writing_ && !has_bytes_) {
    boost::system::error_code ignored;
    server_->shutdown(asio::socket_base::shutdown_send, ignored);
  }
}

// -- from the server ----------------------------------------------------------

void relay::read_head() {
  server_->async_read_some(
    asio::buffer(*buffer_),
    [self = shared_from_this()](boost::system::error_code code, std::size_t n) {
      if (!self->line_)
        return;
      if (code)
        return self->fail("bad_answer",
                          "the server in the sandbox ended the connection "
                          "without an answer");
      const auto seen = self->head_.size();
      self->head_.append(self->buffer_->data(), n);
      const auto from = seen > 3 ? seen - 3 : 0;
      if (const auto end = self->head_.find("\r\n\r\n", from);
          end != self->head_.npos && end <= longest_head)
        self->take_head(end + 4);
      else if (self->head_.size() > longest_head)
        self->fail("bad_answer",
                   "the head of the server's answer is larger than 64 KiB");
      else
        self->read_head();
    });
}

void relay::take_head(std::size_t end) {
  auto answer
    = forward_answer(std::string_view{head_}.substr(0, end), what_.answer);
  if (!answer || (answer->interim && ++interims_ > most_interims))
    return fail("bad_answer",
                "what the server in the sandbox answers is not HTTP");
  head_.erase(0, end);
  if (answer->interim) {
    const auto next = head_.find("\r\n\r\n");
    return next == head_.npos ? read_head() : take_head(next + 4);
  }
  answered_ = true;
  status_ = answer->status;
  out_ = std::move(answer->text);
  left_ = answer->length;
  if (answer->upgraded) {
    left_.reset();
    open_both_ways();
  }
  if (left_) {
    head_.resize(std::min<std::uint64_t>(head_.size(), *left_));
    *left_ -= head_.size();
    over_ = *left_ == 0;
  }
  out_ += std::exchange(head_, {});
  line_->send(asio::buffer(out_));
}

/// What the client has sent ahead is the other protocol's.
void relay::open_both_ways() {
  opaque_ = true;
  pass_on();
}

void relay::sent() {
  if (!line_)
    return;
  if (over_)
    return finish();
  std::string{}.swap(out_);
  read_more();
}

void relay::read_more() {
  server_->async_read_some(
    asio::buffer(*buffer_),
    [self = shared_from_this()](boost::system::error_code code, std::size_t n) {
      if (!self->line_)
        return;
      if (!code)
        return self->read(n);
      if (self->left_) // fewer bytes than it has said
        return self->line_->abort();
      self->finish();
    });
}

void relay::read(std::size_t n) {
  if (left_) {
    n = std::min<std::uint64_t>(n, *left_);
    *left_ -= n;
    over_ = *left_ == 0;
  }
  line_->send(asio::buffer(buffer_->data(), n));
}

// -- the end ------------------------------------------------------------------

/// Before anything was answered: in our own words.
void relay::fail(std::string_view code, std::string_view text) {
  if (!line_ || over_)
    return;
  if (std::exchange(answered_, true))
    return abort();
  error why;
  why.text = text;
  status_ = code == "bad_request" ? 400 : 502;
  auto r = write_problem(status_, code, why, {}, {});
  answer_frame frame;
  frame.keep = false;
  frame.head_only = what_.answer.head_only;
  frame.http10 = what_.answer.http10;
  append_answer(out_, r, frame);
  over_ = true;
  boost::system::error_code ignored;
  server_->close(ignored);
  line_->send(asio::buffer(out_));
}

void relay::abort() {
  if (auto line = line_)
    line->abort(); // which calls `closed`
}

void relay::finish() {
  if (auto line = line_)
    line->end_taken(); // which calls `closed`
}

void relay::closed() {
  line_.reset();
  has_bytes_ = false;
  what_.counted.reset();
  boost::system::error_code ignored;
  if (server_)
    server_->close(ignored);
}

} // namespace troupe::net
