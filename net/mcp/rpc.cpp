#include "net/mcp/rpc.hpp"

#include "runtime/json/big_integers.hpp"
#include "runtime/json/members.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net::mcp {

namespace {

constexpr std::size_t longest_id = 1'000;
constexpr std::size_t deepest = 64;

/// An id as it is echoed; "" for one that cannot be.
std::string usable_id(const json::value& id) {
  if (id.is_string() && id.get_string().size() > longest_id)
    return {};
  return id.is_string() || id.is_int64() || id.is_uint64() ? json::to_text(id)
                                                           : std::string{};
}

bad_message invalid(std::string message, std::string id = {}) {
  return {{400, codes::invalid_request, std::move(message)}, std::move(id)};
}

std::variant<rpc_message, bad_message> read_object(json::object& body) {
  const auto* said_id = body.if_contains("id");
  const auto id = said_id ? usable_id(*said_id) : std::string{};
  if (json::text_or_empty(body, "jsonrpc") != "2.0")
    return invalid("jsonrpc must be \"2.0\"", id);
  if (said_id && id.empty())
    return invalid("id must be a text or an integer");
  rpc_message out;
  out.id = id;
  const auto* method = body.if_contains("method");
  if (!method) {
    if (!said_id || !(body.contains("result") || body.contains("error")))
      return invalid("method is missing", id);
    out.what = rpc_message::kind::response;
    return out;
  }
  if (!method->is_string())
    return invalid("method must be a text", id);
  out.method = std::string{method->get_string()};
  out.what
    = said_id ? rpc_message::kind::request : rpc_message::kind::notification;
  auto* params = body.if_contains("params");
  if (params && params->is_object())
    out.params = std::move(params->get_object());
  else if (params && !params->is_null())
    return invalid("params must be an object", id);
  return out;
}

} // namespace

const json::value* rpc_message::meta(std::string_view name) const {
  const auto* meta = params.if_contains("_meta");
  return meta && meta->is_object() ? meta->get_object().if_contains(name)
                                   : nullptr;
}

std::optional<std::string_view> rpc_message::text(std::string_view name) const {
  const auto* found = params.if_contains(name);
  if (!found || !found->is_string())
    return std::nullopt;
  return found->get_string();
}

std::variant<rpc_message, bad_message> read_message(std::string_view body) {
  static constexpr std::string_view arguments[] = {"/params/arguments"};
  auto parsed = json::parse_large(
    body, arguments, {.depth = deepest, .bytes = body.size(), .wiped = true});
  if (!parsed)
    // The reason is one of a closed set: it quotes nothing of the body.
    return bad_message{{400, codes::parse_error,
                        "The body is " + parsed.error().fields.at(0).reason}};
  if (parsed->is_array())
    return invalid("Batches are not accepted: send one message");
  if (!parsed->is_object())
    return invalid("The body must be a JSON object");
  return read_object(parsed->get_object());
}

std::string result_text(std::string_view id, std::string_view result) {
  std::string out{R"({"jsonrpc":"2.0","id":)"};
  out.reserve(out.size() + id.size() + result.size() + 16);
  return out.append(id).append(",\"result\":").append(result).append("}");
}

std::string error_text(std::string_view id, const rpc_error& why) {
  json::object_writer body;
  body.number("code", why.code).text("message", why.message);
  if (!why.data.empty())
    body.raw("data", why.data);
  json::object_writer out;
  out.text("jsonrpc", "2.0");
  if (!id.empty())
    out.raw("id", id);
  out.raw("error", body.finish());
  return out.finish();
}

std::string notification_text(std::string_view method,
                              std::string_view params) {
  json::object_writer out;
  out.text("jsonrpc", "2.0").text("method", method).raw("params", params);
  return out.finish();
}

} // namespace troupe::net::mcp
