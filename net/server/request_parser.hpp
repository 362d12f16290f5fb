#pragma once

#include "net/http/request.hpp"
#include "net/server/options.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

/// A request that HTTP itself refuses: the answer's status and its text. The
/// connection is closed after it, since its framing is not to be trusted.
struct refusal {
  int status = 400;
  std::string_view code = "bad_request";
  std::string text;
};

/// Beast's grammar, our storage and our rules. One object per request: first
/// the whole head, then the body piece by piece.
class message_parser final : public boost::beast::http::basic_parser<true> {
public:
  /// Fills `out`, whose `head` holds the bytes up to the empty line.
  message_parser(request& out, const server_options& options);

  std::optional<refusal> read_head();

  // -- the body, after read_head --------------------------------------------
  bool has_body() const { return has_body_; }
  bool chunked_body() const { return chunked_body_; }
  std::uint64_t announced() const { return announced_; }
  /// How much body the route takes; more is refused with 413.
  void limit(std::size_t bytes) { limit_ = bytes; }
  /// Takes what it can from `bytes`, appending to the request's body.
  std::size_t feed(std::string_view bytes, std::optional<refusal>& refused);
  bool finished() const { return is_done(); }
  /// Whether the client wants to go on with this connection.
  bool wants_more() const { return wants_more_; }

private:
  using error_code = boost::beast::error_code;
  using view = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb verb, view name, view target,
                       int version, error_code& ec) override;
  void on_response_impl(int, view, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field, view name, view value,
                     error_code& ec) override;
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&,
                         error_code&) override {}
  std::size_t on_body_impl(view body, error_code& ec) override;
  void on_chunk_header_impl(std::uint64_t size, view extensions,
                            error_code& ec) override;
  std::size_t on_chunk_body_impl(std::uint64_t, view body,
                                 error_code& ec) override;
  void on_finish_impl(error_code&) override {}

  std::optional<refusal> check_framing();
  std::optional<refusal> check_target();
  std::optional<refusal> check_path(std::string_view path);

  request& out_;
  const server_options& options_;
  std::optional<refusal> refused_;
  std::size_t limit_ = 0;
  std::uint64_t announced_ = 0;
  bool in_body_ = false;
  bool has_body_ = false;
  bool chunked_body_ = false;
  bool wants_more_ = true;
};

/// Each names its limit and the setting behind it.
refusal too_large_body(std::size_t limit);
refusal too_large_head(std::size_t limit);

/// What can already be said about a head that has not fully arrived: nothing,
/// or that no continuation would save it. The first `seen` bytes were looked
/// at before.
std::optional<refusal> check_beginning(std::string_view bytes,
                                       std::size_t seen);

/// The name in a Host field, lower case, without port and brackets; nothing
/// for one that is malformed.
std::optional<std::string> host_name(std::string_view field);

} // namespace troupe::net
