#include "net/mcp/era.hpp"

#include "net/mcp/methods.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/writer.hpp"

#include <algorithm>

namespace troupe::net::mcp {

namespace {

constexpr std::string_view encoded_begin = "=?base64?";
constexpr std::string_view encoded_end = "?=";

/// Whether a list of media types has one, whatever its parameters.
bool lists_type(std::string_view accept, std::string_view wanted) {
  while (!accept.empty()) {
    const auto comma = accept.find(',');
    const auto one = accept.substr(0, comma);
    if (equal_ignoring_case(trim(one.substr(0, one.find(';'))), wanted))
      return true;
    if (comma == accept.npos)
      break;
    accept.remove_prefix(comma + 1);
  }
  return false;
}

std::string accepted(const request& in) {
  std::string all;
  for (const auto& [name, value] : in.fields)
    if (equal_ignoring_case(name, "accept"))
      all.append(all.empty() ? "" : ",").append(value);
  return all;
}

rpc_error mismatch(std::string message) {
  return {400, codes::header_mismatch, std::move(message)};
}

/// The fields that say what a request is for proxies that read no bodies.
std::optional<rpc_error> check_name(const request& in,
                                    const rpc_message& message) {
  const auto member = named_member(message.method);
  if (member.empty())
    return std::nullopt;
  const auto wanted = message.text(member);
  if (!wanted)
    return std::nullopt; // the method says what it lacks
  if (in.count("mcp-name") != 1)
    return mismatch("Mcp-Name is missing: send the value of params."
                    + std::string{member});
  const auto said = decoded_field(trim(in.field("mcp-name")));
  if (!said)
    return mismatch("Mcp-Name is not valid Base64");
  if (*said != *wanted)
    return mismatch("Mcp-Name is not the value of params."
                    + std::string{member});
  return std::nullopt;
}

} // namespace

bool is_legacy_version(std::string_view text) {
  return std::find(legacy_versions.begin(), legacy_versions.end(), text)
    != legacy_versions.end();
}

std::string_view versions_json() {
  return R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26"])";
}

era era_of(const request& in, const rpc_message& message) {
  if (message.meta(meta_names::version))
    return era::modern;
  const auto version = trim(in.field("mcp-protocol-version"));
  if (in.has("mcp-protocol-version"))
    return is_legacy_version(version) ? era::legacy : era::modern;
  return in.has("mcp-method") && message.method != "initialize" ? era::modern
                                                                : era::legacy;
}

bool takes_events(const request& in) {
  return lists_type(accepted(in), "text/event-stream");
}

bool takes_answers(const request& in) {
  const auto all = accepted(in);
  return lists_type(all, "*/*")
    || (lists_type(all, "application/json")
        && lists_type(all, "text/event-stream"));
}

std::optional<rpc_error> check_meta(const rpc_message& message) {
  const auto* version = message.meta(meta_names::version);
  const auto* capabilities = message.meta(meta_names::capabilities);
  if (version && version->is_string() && capabilities
      && capabilities->is_object())
    return std::nullopt;
  return rpc_error{400, codes::invalid_params,
                   "params._meta needs " + std::string{meta_names::version}
                     + " (a text) and " + std::string{meta_names::capabilities}
                     + " (an object)"};
}

std::optional<rpc_error> check_version(const rpc_message& message) {
  const std::string_view version
    = message.meta(meta_names::version)->get_string();
  if (version == modern_version)
    return std::nullopt;
  json::object_writer data;
  data.raw("supported", versions_json()).text("requested", version);
  return rpc_error{400, codes::unsupported_version,
                   "Unsupported protocol version", data.finish()};
}

std::optional<rpc_error> check_modern(const request& in,
                                      const rpc_message& message) {
  if (auto bad = check_meta(message))
    return bad;
  const std::string_view version
    = message.meta(meta_names::version)->get_string();
  if (in.count("mcp-protocol-version") != 1)
    return mismatch("MCP-Protocol-Version is missing");
  if (trim(in.field("mcp-protocol-version")) != version)
    return mismatch("MCP-Protocol-Version is not that of params._meta");
  if (auto bad = check_version(message))
    return bad;
  if (in.count("mcp-method") != 1)
    return mismatch("Mcp-Method is missing");
  if (trim(in.field("mcp-method")) != message.method)
    return mismatch("Mcp-Method is not the method of the body");
  if (!is_modern_method(message.method))
    return rpc_error{404, codes::method_not_found,
                     "Method not found: " + message.method.substr(0, 100)};
  return check_name(in, message);
}

std::optional<std::string> decoded_field(std::string_view value) {
  if (!value.starts_with(encoded_begin) || !value.ends_with(encoded_end)
      || value.size() < encoded_begin.size() + encoded_end.size())
    return std::string{value};
  value.remove_prefix(encoded_begin.size());
  value.remove_suffix(encoded_end.size());
  auto bytes = frame::from_base64(value);
  if (!bytes)
    return std::nullopt;
  return std::move(*bytes);
}

} // namespace troupe::net::mcp
