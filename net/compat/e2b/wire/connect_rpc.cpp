#include "net/compat/e2b/wire/connect_rpc.hpp"

#include "net/compat/e2b/wire/answers.hpp"
#include "net/http/problem.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/text.hpp"
#include "runtime/json/writer.hpp"

#include <charconv>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_message = 4u << 20;
constexpr std::string_view unary_type = "application/json";
constexpr std::string_view stream_type = "application/connect+json";
constexpr std::uint8_t compressed_flag = 1;
constexpr std::uint8_t end_flag = 2;

struct code_row {
  std::string_view name;
  int status;
};

/// In the order of rpc_code.
constexpr code_row rows[] = {
  {"canceled", 499},
  {"unknown", 500},
  {"invalid_argument", 400},
  {"deadline_exceeded", 504},
  {"not_found", 404},
  {"already_exists", 409},
  {"permission_denied", 403},
  {"resource_exhausted", 429},
  {"failed_precondition", 400},
  {"aborted", 409},
  {"unimplemented", 501},
  {"internal", 500},
  {"unavailable", 503},
  {"unauthenticated", 401},
};

rpc_code code_of(ec code) {
  switch (code) {
  case ec::invalid_request:
    return rpc_code::invalid_argument;
  case ec::not_found:
    return rpc_code::not_found;
  case ec::conflict:
    return rpc_code::failed_precondition;
  case ec::denied:
    return rpc_code::permission_denied;
  case ec::unavailable:
    return rpc_code::unavailable;
  case ec::timeout:
    return rpc_code::deadline_exceeded;
  case ec::exhausted:
  case ec::no_space:
    return rpc_code::resource_exhausted;
  case ec::internal:
    return rpc_code::internal;
  }
  return rpc_code::internal;
}

std::string snake_case(std::string_view camel) {
  std::string out;
  for (const char c : camel)
    if (c >= 'A' && c <= 'Z') {
      out += '_';
      out += static_cast<char>(c | 0x20);
    } else {
      out += c;
    }
  return out;
}

/// The type of a body without its parameters.
std::string_view type_of(const request& in) {
  const auto type = in.field("content-type");
  return trim(type.substr(0, type.find(';')));
}

bool check_protocol(exchange& ex, rpc_kind kind) {
  const auto wanted = kind == rpc_kind::unary ? unary_type : stream_type;
  if (!equal_ignoring_case(type_of(ex.in()), wanted)) {
    auto r = error_answer(415, "send the message as " + std::string{wanted});
    r.fields.emplace_back("accept-post", std::string{wanted});
    ex.answer(std::move(r));
    return false;
  }
  const auto version = ex.in().field("connect-protocol-version");
  if (version.empty() || version == "1")
    return true;
  fail_rpc(ex,
           {rpc_code::invalid_argument,
            "the only Connect protocol version here is 1"});
  return false;
}

/// The one envelope that begins a stream.
result<std::string> only_envelope(std::string_view body) {
  envelope_reader reader{largest_message};
  reader.feed(body);
  auto first = reader.next();
  if (!first)
    return first.error();
  if (!*first || !reader.between_two() || (*first)->end)
    return bad_request("the body is not exactly one envelope");
  return std::move((*first)->payload);
}

} // namespace

std::string_view to_string(rpc_code code) {
  return rows[static_cast<std::size_t>(code)].name;
}

int status_of(rpc_code code) {
  return rows[static_cast<std::size_t>(code)].status;
}

std::string to_json(const rpc_error& why) {
  json::object_writer out;
  out.text("code", to_string(why.code))
    .text("message", json::repair_utf8(why.message));
  return out.finish();
}

rpc_error rpc_error_of(const sandbox_error& why) {
  const auto code = why.problem == sandbox_problem::unsupported_here
    ? rpc_code::unimplemented
    : code_of(why.code);
  return {code, message_of(why)};
}

// -- envelopes ----------------------------------------------------------------

result<std::optional<envelope>> envelope_reader::next() {
  if (held_.size() < head_bytes)
    return std::optional<envelope>{};
  const auto flags = static_cast<std::uint8_t>(held_[0]);
  std::size_t size = 0;
  for (std::size_t i = 1; i < head_bytes; ++i)
    size = (size << 8) | static_cast<std::uint8_t>(held_[i]);
  if (flags & compressed_flag)
    return bad_request("compressed envelopes are not accepted");
  if ((flags & ~end_flag) != 0)
    return bad_request("the envelope has flags that are not known");
  if (size > largest_)
    return bad_request("the envelope has more than " + std::to_string(largest_)
                       + " bytes");
  if (held_.size() - head_bytes < size)
    return std::optional<envelope>{};
  envelope out;
  out.end = (flags & end_flag) != 0;
  out.payload = held_.substr(head_bytes, size);
  held_.erase(0, head_bytes + size);
  return std::optional<envelope>{std::move(out)};
}

std::string envelope_of(std::string_view payload, bool end) {
  std::string out;
  out.reserve(envelope_reader::head_bytes + payload.size());
  out += static_cast<char>(end ? end_flag : 0);
  for (const int shift : {24, 16, 8, 0})
    out += static_cast<char>((payload.size() >> shift) & 0xff);
  return out.append(payload);
}

std::string end_envelope(const rpc_error& why) {
  json::object_writer out;
  out.raw("error", to_json(why));
  return envelope_of(out.finish(), true);
}

std::string end_envelope() {
  return envelope_of("{}", true);
}

// -- calls --------------------------------------------------------------------

std::optional<json::object> message_of(exchange& ex, rpc_kind kind) {
  if (!check_protocol(ex, kind))
    return std::nullopt;
  const auto refuse = [&](const std::string& why) {
    const rpc_error error{rpc_code::invalid_argument, why};
    if (kind == rpc_kind::unary)
      fail_rpc(ex, error);
    else
      fail_stream(ex, error);
  };
  if (ex.in().body.size() > largest_message + envelope_reader::head_bytes) {
    refuse("the message has more than 4 MiB");
    return std::nullopt;
  }
  result<std::string> text{ex.in().body};
  if (kind == rpc_kind::stream)
    text = only_envelope(ex.in().body);
  if (!text) {
    refuse(message_of(text.error()));
    return std::nullopt;
  }
  if (trim(*text).empty())
    return json::object{};
  auto parsed = json::parse_object(*text, {.wiped = true});
  if (parsed)
    return std::move(*parsed);
  refuse("the message is no JSON object: " + message_of(parsed.error()));
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> time_of_call(const request& in) {
  constexpr std::size_t most_digits = 10;
  const auto text = in.field("connect-timeout-ms");
  std::int64_t ms = 0;
  const auto* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, ms);
  if (text.empty() || text.size() > most_digits || code != std::errc{}
      || at != end || ms <= 0)
    return std::nullopt;
  return std::chrono::milliseconds{ms};
}

void answer_rpc(exchange& ex, std::string message) {
  ex.answer_json(std::move(message));
}

void fail_rpc(exchange& ex, const rpc_error& why) {
  ex.answer_json(to_json(why), status_of(why.code));
}

void fail_stream(exchange& ex, const rpc_error& why) {
  response r;
  r.type = stream_type;
  r.body = end_envelope(why);
  ex.answer(std::move(r));
}

// -- reading ------------------------------------------------------------------

const json::value* message_reader::find(std::string_view name) const {
  const auto* found = from_.if_contains(name);
  if (!found)
    found = from_.if_contains(snake_case(name));
  return found && !found->is_null() ? found : nullptr;
}

void message_reader::complain(std::string_view name, std::string_view wanted) {
  if (!bad_)
    bad_ = rpc_error{rpc_code::invalid_argument,
                     std::string{name} + " must be " + std::string{wanted}};
}

std::string message_reader::text(std::string_view name) {
  const auto* found = find(name);
  if (!found)
    return {};
  if (found->is_string())
    return std::string{found->get_string()};
  complain(name, "a text");
  return {};
}

std::optional<bool> message_reader::boolean(std::string_view name) {
  const auto* found = find(name);
  if (!found)
    return std::nullopt;
  if (found->is_bool())
    return found->get_bool();
  complain(name, "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> message_reader::integer(std::string_view name) {
  const auto* found = find(name);
  if (!found)
    return std::nullopt;
  if (found->is_int64())
    return found->get_int64();
  if (found->is_string()) {
    const std::string_view text = found->get_string();
    std::int64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [at, code] = std::from_chars(text.data(), end, number);
    if (code == std::errc{} && at == end && !text.empty())
      return number;
  }
  complain(name, "an integer");
  return std::nullopt;
}

const json::object* message_reader::object(std::string_view name) {
  const auto* found = find(name);
  if (!found || found->is_object())
    return found ? &found->get_object() : nullptr;
  complain(name, "an object");
  return nullptr;
}

const json::array* message_reader::array(std::string_view name) {
  const auto* found = find(name);
  if (!found || found->is_array())
    return found ? &found->get_array() : nullptr;
  complain(name, "a list");
  return nullptr;
}

std::optional<std::string> message_reader::bytes(std::string_view name) {
  const auto* found = find(name);
  if (!found)
    return std::nullopt;
  if (found->is_string())
    if (auto raw = frame::from_base64(std::string_view{found->get_string()}))
      return std::move(*raw);
  complain(name, "base64");
  return std::nullopt;
}

} // namespace troupe::net::e2b_facade
