#include "net/api/sandboxes/terminal_socket.hpp"

#include "net/api/shared/run_json.hpp"
#include "net/server/connection.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <limits>
#include <utility>

namespace troupe::net {

namespace {

namespace ws = websocket;

constexpr std::size_t largest_frame = 64u << 10;
/// Answers that a client has not taken: it is heard no further until it has.
constexpr std::size_t most_said = 16;
constexpr std::chrono::milliseconds until_again{20};

} // namespace

template <class Then>
auto terminal_socket::here(Then then) {
  return [weak = weak_from_this(), executor = line_->executor(),
          then = std::move(then)](auto... told) mutable {
    boost::asio::post(executor,
                      [weak, then = std::move(then), told...]() mutable {
                        if (auto self = weak.lock(); self && self->line_)
                          then(*self, std::move(told)...);
                      });
  };
}

void terminal_socket::begin(connection& line) {
  line_ = line.shared_from_this();
  sending_ = true;
  line.send(boost::asio::buffer(out_)); // the greeting
  stay_awake();
}

void terminal_socket::closed() {
  line_.reset();
  awake_.reset();
  again_.reset();
}

void terminal_socket::ended() {
  if (line_)
    line_->abort(); // it went without a word
}

/// A connection without a word for too long is cut: the client answers this.
void terminal_socket::stay_awake() {
  awake_.emplace(line_->executor(), longest_silence / 3);
  awake_->async_wait([weak = weak_from_this()](boost::system::error_code code) {
    auto self = weak.lock();
    if (code || !self || !self->line_)
      return;
    self->say(ws::make_frame(ws::kind::ping, {}));
    self->stay_awake();
  });
}

// -- to the client ------------------------------------------------------------

void terminal_socket::send(std::string frame) {
  out_ = std::move(frame);
  sending_ = true;
  line_->send(boost::asio::buffer(out_));
}

void terminal_socket::sent() {
  sending_ = false;
  pump();
  act(); // it may have waited for room
}

void terminal_socket::say(std::string frame) {
  said_.push_back(std::move(frame));
  pump();
}

void terminal_socket::close(ws::status why) {
  if (std::exchange(ends_, true))
    return;
  said_.push_back(ws::close_frame(why));
  pump();
}

void terminal_socket::pump() {
  if (!line_ || sending_)
    return;
  if (!said_.empty()) {
    auto first = std::move(said_.front());
    said_.pop_front();
    return send(std::move(first));
  }
  if (ends_)
    return line_->end_taken();
  if (auto next = next_frame())
    send(std::move(*next));
}

std::optional<std::string> terminal_socket::next_frame() {
  const auto record = process_->record(); // first: all is there when it ended
  const auto piece = process_->read(output_stream::out, from_, largest_frame);
  if (piece.missed > 0) {
    from_ = piece.from;
    json::object_writer note;
    note.number("missed", piece.missed);
    return ws::make_frame(ws::kind::text, note.finish());
  }
  if (!piece.bytes.empty()) {
    from_ = piece.next();
    return ws::make_frame(ws::kind::binary, piece.bytes);
  }
  if (!record.ended()) {
    wait_for_output();
    return std::nullopt;
  }
  json::object_writer end;
  end.raw("end", json::to_text(to_json(record)));
  said_.push_back(ws::close_frame(ws::status::normal));
  ends_ = true;
  return ws::make_frame(ws::kind::text, end.finish());
}

void terminal_socket::wait_for_output() {
  if (std::exchange(waiting_, true))
    return;
  output_offsets read;
  read.out = from_;
  read.err = std::numeric_limits<std::uint64_t>::max();
  auto waits = process_->when_more(read, here([](terminal_socket& self) {
                                     self.waiting_ = false;
                                     self.pump();
                                   }));
  if (!waits)
    close(ws::status::going_away);
}

// -- from the client ----------------------------------------------------------

void terminal_socket::received(std::string_view bytes) {
  reader_.append(bytes);
  holding_ = true;
  act();
}

void terminal_socket::act() {
  while (line_ && holding_ && !asked_ && !ends_ && said_.size() < most_said) {
    ws::message next;
    switch (reader_.next(next)) {
    case ws::reader::progress::partial:
      holding_ = false;
      return line_->next();
    case ws::reader::progress::broken:
      return close(reader_.wrong());
    case ws::reader::progress::whole:
      break;
    }
    if (next.what == ws::kind::binary)
      type(std::move(next.data));
    else if (next.what == ws::kind::text)
      obey(next.data);
    else if (next.what == ws::kind::ping)
      say(ws::make_frame(ws::kind::pong, next.data));
    else if (next.what == ws::kind::close)
      close(ws::status::normal);
  }
}

void terminal_socket::type(std::string keys) {
  asked_ = true;
  auto done = here([keys](terminal_socket& self, sandbox_result<void> how) {
    // A program that does not read holds up its terminal, and nothing else.
    if (!how && how.error().code == ec::exhausted)
      self.type_again(keys);
    else
      self.done(how);
  });
  process_->write(std::move(keys), std::move(done));
}

void terminal_socket::type_again(std::string keys) {
  again_.emplace(line_->executor(), until_again);
  again_->async_wait([weak = weak_from_this(), keys = std::move(keys)](
                       boost::system::error_code code) mutable {
    auto self = weak.lock();
    if (!code && self && self->line_)
      self->type(std::move(keys));
  });
}

void terminal_socket::done(const sandbox_result<void>& how) {
  asked_ = false;
  if (!how && how.error().problem != sandbox_problem::process_ended)
    tell_error(how.error());
  act();
}

void terminal_socket::obey(const std::string& text) {
  auto said = json::parse_object(text);
  if (!said)
    return tell_error(said.error());
  json::reader in{*said};
  const auto* size = in.member_object("resize");
  const auto signal = in.text("signal", {.max = 16});
  if (!size && !signal)
    in.absorb(bad_field("", "asks for nothing", "send resize or signal"));
  result<terminal_size> to{terminal_size{}};
  if (size)
    to = parse_terminal_size(*size, "/resize");
  if (!to)
    in.absorb(to.error());
  const auto number = parse_signal(signal.value_or("INT"));
  if (!number)
    in.complain("signal", "is no signal", "a name such as INT, or its number");
  if (auto bad = in.finish())
    return tell_error(*bad);
  asked_ = true;
  auto then = here(
    [](terminal_socket& self, sandbox_result<void> how) { self.done(how); });
  if (size)
    process_->resize(*to, then);
  else
    process_->signal(*number, then);
}

void terminal_socket::tell_error(const error& why) {
  json::object_writer note;
  note.raw("error", to_json_text(why));
  say(ws::make_frame(ws::kind::text, note.finish()));
}

} // namespace troupe::net
