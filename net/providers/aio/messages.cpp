#include "net/providers/aio/messages.hpp"

#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/printable.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe::net::aio {

namespace {

std::string text_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

std::int64_t offset_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_int64() && v->as_int64() > 0 ? v->as_int64() : 0;
}

} // namespace

result<json::object> unwrap(std::string_view body, std::string_view doing) {
  auto envelope
    = json::parse_object(body, {.depth = 16, .bytes = max_reply_bytes});
  if (!envelope)
    return fail(ec::unavailable, "the AIO sandbox answered with no JSON");
  auto* success = envelope->if_contains("success");
  if (!success || !success->is_bool() || !success->as_bool()) {
    auto why = reply_message(body);
    auto* data = envelope->if_contains("data");
    auto missing = data && data->is_object()
      && text_of(data->as_object(), "error_type") == "not_found";
    return fail(missing ? ec::not_found : ec::unavailable,
                "the AIO sandbox did not " + std::string{doing}
                  + (why.empty() ? "" : ": " + why));
  }
  auto* data = envelope->if_contains("data");
  if (data && data->is_object())
    return std::move(data->as_object());
  return json::object{};
}

result<command_report> parse_report(const json::object& data) {
  // A beginning tells of itself, a later look tells of its command.
  auto* inner = data.if_contains("command");
  const auto& state = inner && inner->is_object() ? inner->as_object() : data;
  command_report out;
  out.session = text_of(data, "session_id");
  out.command = text_of(state, "command_id");
  out.status = text_of(state, "status");
  out.out = text_of(data, "stdout");
  out.err = text_of(data, "stderr");
  out.offset = offset_of(data, "offset");
  out.err_offset = offset_of(data, "stderr_offset");
  if (out.status.empty())
    return fail(ec::unavailable, "the AIO sandbox lost the command");
  constexpr std::array known{"pending", "running", "completed", "timed_out",
                             "killed"};
  if (std::ranges::find(known, out.status) == known.end())
    return fail(ec::unavailable,
                "the AIO sandbox says that the command is '"
                  + printable(out.status) + "', which is unknown");
  auto* code = state.if_contains("exit_code");
  if (code && code->is_int64())
    out.exit_code = static_cast<std::int32_t>(code->as_int64());
  else if (out.status == "completed")
    return fail(ec::unavailable,
                "the AIO sandbox ended the command without an exit code");
  return out;
}

} // namespace troupe::net::aio
