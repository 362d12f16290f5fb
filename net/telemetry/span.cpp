#include "net/telemetry/span.hpp"

#include "runtime/json/writer.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

void put_attribute(json::writer& out, std::string_view key,
                   const span_value& value) {
  out.text("key", key).name("value").begin('{');
  if (auto* text = std::get_if<std::string>(&value))
    out.text("stringValue", *text);
  else // 64-bit integers are texts in proto3's JSON
    out.text("intValue", std::to_string(std::get<std::int64_t>(value)));
  out.end('}');
}

std::string nanoseconds(std::chrono::system_clock::time_point t) {
  using std::chrono::nanoseconds;
  return std::to_string(
    std::chrono::duration_cast<nanoseconds>(t.time_since_epoch()).count());
}

void put_span(json::writer& out, const span& s) {
  constexpr int internal = 1; // kind: no call to another service
  constexpr int error = 2;
  out.text("traceId", hex_of(s.context.trace.data(), s.context.trace.size()))
    .text("spanId", hex_of(s.context.span.data(), s.context.span.size()));
  if (std::any_of(s.parent.begin(), s.parent.end(),
                  [](auto b) { return b != 0; }))
    out.text("parentSpanId", hex_of(s.parent.data(), s.parent.size()));
  out.text("name", s.name)
    .number("kind", internal)
    .text("startTimeUnixNano", nanoseconds(s.begin))
    .text("endTimeUnixNano", nanoseconds(s.end))
    .objects("attributes", s.attributes,
             [&](const auto& a) { put_attribute(out, a.first, a.second); });
  out.name("status").begin('{');
  if (s.failed)
    out.number("code", error).text("message", s.status);
  out.end('}');
}

} // namespace

std::string to_otlp_json(const std::vector<span>& spans,
                         std::string_view instance) {
  const decltype(span::attributes) process{
    {"service.name", "troupe"},
    {"service.version", TROUPE_VERSION},
    {"service.instance.id", std::string{instance}}};
  json::object_writer out;
  out.name("resourceSpans").begin('[').begin('{');
  out.name("resource")
    .begin('{')
    .objects("attributes", process,
             [&](const auto& a) { put_attribute(out, a.first, a.second); });
  out.end('}').name("scopeSpans").begin('[').begin('{');
  out.name("scope").begin('{').text("name", "troupe");
  out.text("version", TROUPE_VERSION).end('}');
  out.objects("spans", spans, [&](const span& s) { put_span(out, s); });
  out.end('}').end(']').end('}').end(']');
  return out.finish();
}

} // namespace troupe::net
