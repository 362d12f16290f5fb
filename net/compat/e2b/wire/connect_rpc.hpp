#pragma once

#include "net/server/exchange.hpp"
#include "runtime/base/error.hpp"
#include "runtime/engine/sandbox_error.hpp"
#include "runtime/json/json.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The Connect protocol with JSON, as E2B's clients speak it: one call is one
/// JSON object each way, and a stream is a row of envelopes.
namespace troupe::net::e2b_facade {

/// What went wrong, by the protocol's own names.
enum class rpc_code : std::uint8_t {
  canceled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  unimplemented,
  internal,
  unavailable,
  unauthenticated,
};
std::string_view to_string(rpc_code code);
int status_of(rpc_code code);

struct rpc_error {
  rpc_code code = rpc_code::unknown;
  std::string message;
};
/// {"code":"not_found","message":"..."}
std::string to_json(const rpc_error& why);
rpc_error rpc_error_of(const sandbox_error& why);

// -- envelopes ----------------------------------------------------------------

struct envelope {
  bool end = false; // the last one: it says how the stream ended
  std::string payload;
};

/// Envelopes out of bytes that come in pieces of any size.
class envelope_reader {
public:
  static constexpr std::size_t head_bytes = 5;

  explicit envelope_reader(std::size_t largest) : largest_{largest} {}

  void feed(std::string_view bytes) { held_ += bytes; }
  /// The next whole one; nothing: more bytes are needed. A failure is final.
  result<std::optional<envelope>> next();
  /// Nothing of an envelope has come that is not finished.
  bool between_two() const { return held_.empty(); }

private:
  const std::size_t largest_;
  std::string held_;
};

/// The bytes of an envelope.
std::string envelope_of(std::string_view payload, bool end = false);
/// The last one of a stream that failed.
std::string end_envelope(const rpc_error& why);
std::string end_envelope();

// -- calls --------------------------------------------------------------------

enum class rpc_kind : std::uint8_t { unary, stream };

/// The object that a call came with. Answers the exchange itself when the call
/// is not one of the protocol.
std::optional<json::object> message_of(exchange& ex, rpc_kind kind);

/// How long the call may take; nothing: as long as it likes.
std::optional<std::chrono::milliseconds> time_of_call(const request& in);

void answer_rpc(exchange& ex, std::string message);
void fail_rpc(exchange& ex, const rpc_error& why);
/// A stream that ends before it began.
void fail_stream(exchange& ex, const rpc_error& why);

/// Reads members by their lowerCamelCase names, or the same in snake_case. Null
/// is absent, unknown members are overlooked, and of several mistakes the first
/// is kept.
class message_reader {
public:
  explicit message_reader(const json::object& from) : from_{from} {}

  const json::value* find(std::string_view name) const;
  std::string text(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  /// 64 bit integers are texts in this JSON; numbers are taken as well.
  std::optional<std::int64_t> integer(std::string_view name);
  const json::object* object(std::string_view name);
  const json::array* array(std::string_view name);
  /// Base64.
  std::optional<std::string> bytes(std::string_view name);

  void complain(std::string_view name, std::string_view wanted);
  const std::optional<rpc_error>& bad() const { return bad_; }

private:
  const json::object& from_;
  std::optional<rpc_error> bad_;
};

} // namespace troupe::net::e2b_facade
