#include "net/telemetry/span.hpp"

#include "net/http/writer.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

std::string text_attribute(std::string_view key, std::string_view value) {
  object_writer inner;
  inner.text("stringValue", value);
  object_writer out;
  out.text("key", key).raw("value", inner.finish());
  return out.finish();
}

std::string attribute(std::string_view key, const span_value& value) {
  if (auto* text = std::get_if<std::string>(&value))
    return text_attribute(key, *text);
  // 64-bit integers are texts in proto3's JSON.
  object_writer inner;
  inner.text("intValue", std::to_string(std::get<std::int64_t>(value)));
  object_writer out;
  out.text("key", key).raw("value", inner.finish());
  return out.finish();
}

std::string nanoseconds(std::chrono::system_clock::time_point t) {
  using std::chrono::nanoseconds;
  return std::to_string(
    std::chrono::duration_cast<nanoseconds>(t.time_since_epoch()).count());
}

std::string text_of(const span& s) {
  constexpr int internal = 1; // kind: no call to another service
  constexpr int error = 2;
  object_writer status;
  if (s.failed)
    status.number("code", error).text("message", s.status);
  object_writer out;
  out.text("traceId", hex_of(s.context.trace.data(), s.context.trace.size()))
    .text("spanId", hex_of(s.context.span.data(), s.context.span.size()));
  if (std::any_of(s.parent.begin(), s.parent.end(),
                  [](auto b) { return b != 0; }))
    out.text("parentSpanId", hex_of(s.parent.data(), s.parent.size()));
  out.text("name", s.name)
    .number("kind", internal)
    .text("startTimeUnixNano", nanoseconds(s.begin))
    .text("endTimeUnixNano", nanoseconds(s.end))
    .raw(
      "attributes",
      write_array(s.attributes,
                  [](const auto& a) { return attribute(a.first, a.second); }))
    .raw("status", status.finish());
  return out.finish();
}

} // namespace

std::string to_otlp_json(const std::vector<span>& spans,
                         std::string_view instance) {
  auto resource = "{\"attributes\":[" + text_attribute("service.name", "troupe")
    + "," + text_attribute("service.version", TROUPE_VERSION) + ","
    + text_attribute("service.instance.id", instance) + "]}";
  object_writer scope;
  scope.text("name", "troupe").text("version", TROUPE_VERSION);
  object_writer scoped;
  scoped.raw("scope", scope.finish()).raw("spans", write_array(spans, text_of));
  object_writer one;
  one.raw("resource", resource).raw("scopeSpans", "[" + scoped.finish() + "]");
  object_writer out;
  out.raw("resourceSpans", "[" + one.finish() + "]");
  return out.finish();
}

} // namespace troupe::net
