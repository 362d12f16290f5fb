#include "runtime/model/codec/outcome_text.hpp"

#include "runtime/json/members.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

// Errors are sentences.
constexpr std::size_t largest_error_text = 4u << 20;

json::parse_limits up_to(std::size_t bytes) {
  json::parse_limits limits;
  limits.bytes = bytes;
  return limits;
}

json::object to_json(const error& e) {
  json::object o;
  o["code"] = static_cast<std::uint64_t>(e.code);
  o["text"] = e.text;
  if (e.retry_after.count() > 0)
    o["retry_after_ms"] = e.retry_after.count();
  json::array fields;
  for (const auto& field : e.fields)
    fields.push_back(json::object{{"pointer", field.pointer},
                                  {"reason", field.reason},
                                  {"hint", field.hint}});
  if (!fields.empty())
    o["fields"] = std::move(fields);
  return o;
}

error parse_error(const json::object& o) {
  error e;
  auto number = [&o](std::string_view name) -> std::int64_t {
    auto* v = o.if_contains(name);
    return v && v->is_int64() ? v->get_int64() : 0;
  };
  auto code = number("code");
  e.code = code >= 1 && code <= static_cast<int>(ec::no_space)
    ? static_cast<ec>(code)
    : ec::internal;
  e.text = json::text_or_empty(o, "text");
  e.retry_after = std::chrono::milliseconds{number("retry_after_ms")};
  if (auto* fields = o.if_contains("fields"); fields && fields->is_array())
    for (const auto& each : fields->get_array())
      if (auto* f = each.if_object())
        e.fields.push_back({json::text_or_empty(*f, "pointer"),
                            json::text_or_empty(*f, "reason"),
                            json::text_or_empty(*f, "hint")});
  return e;
}

} // namespace

std::string to_text(const std::shared_ptr<const run_result>& result) {
  return result ? to_wire_text(*result) : std::string{};
}

std::string to_text(const std::shared_ptr<const error>& failure) {
  return failure ? json::to_text(to_json(*failure)) : std::string{};
}

result<std::shared_ptr<const run_result>>
result_from_text(std::string_view text) {
  if (text.empty())
    return std::shared_ptr<const run_result>{};
  auto body = json::parse_object(text, up_to(largest_result_text));
  if (!body)
    return body.error();
  auto parsed = parse_run_result(*body);
  if (!parsed)
    return parsed.error();
  return std::make_shared<const run_result>(std::move(*parsed));
}

result<std::shared_ptr<const error>> error_from_text(std::string_view text) {
  if (text.empty())
    return std::shared_ptr<const error>{};
  auto body = json::parse_object(text, up_to(largest_error_text));
  if (!body)
    return body.error();
  return std::make_shared<const error>(parse_error(*body));
}

} // namespace troupe
