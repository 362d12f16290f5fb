#pragma once

#include "net/http/request.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// WebSocket (RFC 6455), either end of it, without a socket.
namespace troupe::net::websocket {

/// Whether the request asks for one in the form that the RFC demands.
bool is_asked_for(const request& in);

/// The whole answer to such a request, after which frames follow.
std::string accept(const request& in);

/// The fields of a request that asks for one, by 16 random bytes in base64.
std::string ask(std::string_view key);
/// Whether the head of an answer says yes to that.
bool is_accepted(std::string_view head, std::string_view key);

enum class kind : std::uint8_t {
  continuation = 0x0,
  text = 0x1,
  binary = 0x2,
  close = 0x8,
  ping = 0x9,
  pong = 0xA,
};

/// Why a connection is closed.
enum class status : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  not_text = 1007,
  too_large = 1009,
};

/// A client masks each frame with another one, a server none.
using mask = std::array<std::uint8_t, 4>;
std::string make_frame(kind what, std::string_view payload,
                       std::optional<mask> with = {});
std::string close_frame(status why, std::string_view text = {});

struct message {
  kind what = kind::text; // never a continuation
  std::string data;
};

enum class sender : std::uint8_t { client, server };

/// Takes what the other end sends apart into whole messages.
class reader {
public:
  explicit reader(std::size_t longest, sender from = sender::client)
      : longest_{longest}, masked_{from == sender::client} {}

  enum class progress : std::uint8_t { whole, partial, broken };
  void append(std::string_view bytes);
  progress next(message& out);
  /// After `broken`: why.
  status wrong() const { return wrong_; }

private:
  struct head {
    kind what = kind::text;
    bool last = false;
    std::uint64_t size = 0;
    std::size_t bytes = 0; // of itself, with the mask
  };
  progress read_head(head& to);
  progress read_size(head& to);
  progress fail(status why);
  progress take(const head& h, message& out);
  progress join(const head& h, std::string data, message& out);

  const std::size_t longest_;
  const bool masked_;
  std::string buffered_;
  std::size_t at_ = 0; // so much of it has been taken
  message joined_;     // of which more fragments come
  bool joining_ = false;
  bool broken_ = false;
  status wrong_ = status::protocol_error;
};

} // namespace troupe::net::websocket
