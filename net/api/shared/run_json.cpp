#include "net/api/shared/run_json.hpp"

#include "net/http/problem.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/fingerprint_forms.hpp"

namespace troupe::net {

namespace {

/// How many bytes a sequence that begins with `c` has; 0 for a middle byte.
std::size_t sequence_length(unsigned char c) {
  if (c < 0x80)
    return 1;
  if (c < 0xc0)
    return 0;
  return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

} // namespace

std::string to_json_text(const error& e) {
  json::object_writer out;
  out.text("code", to_string(e.code)).text("detail", e.text);
  if (!e.fields.empty())
    out.objects("errors", e.fields, [&](const field_error& f) {
      out.text("pointer", f.pointer).text("reason", f.reason);
      if (!f.hint.empty())
        out.text("hint", f.hint);
    });
  return out.finish();
}

namespace {

std::string text_of(const run_usage& u) {
  json::object_writer out;
  out.number("wall_us", u.wall.count())
    .number("cpu_us", u.cpu.count())
    .number("peak_memory_bytes", u.peak_memory_bytes)
    .number("stdout_bytes", u.stdout_bytes)
    .number("stderr_bytes", u.stderr_bytes);
  return out.finish();
}

/// What a record says whether its run has ended or not.
json::object_writer begin_record(const run_record& r) {
  json::object_writer out;
  out.text("id", r.id.str())
    .text("phase", to_string(r.phase))
    .text_or_null("tool_name", r.tool_name)
    .text_or_null("agent_id", r.agent_id)
    .text("backend", to_string(r.backend))
    .text("created_at", to_text(r.created_at))
    .text_or_null("ended_at", r.ended_at ? to_text(*r.ended_at) : "")
    .texts_by_name("labels", r.labels);
  return out;
}

} // namespace

std::string to_json_text(const run_record& r) {
  auto out = begin_record(r);
  out.raw("result", r.result ? troupe::to_json_text(*r.result) : "null")
    .raw("error", r.failure ? to_json_text(*r.failure) : "null");
  return out.finish();
}

std::string summary_of(const run_record& r) {
  auto out = begin_record(r);
  const auto* ended = r.result.get();
  out.text_or_null("status", ended ? status_of(*ended) : std::string_view{})
    .text_or_null("reason",
                  ended ? troupe::to_string(ended->reason) : std::string_view{})
    .raw("usage", ended ? text_of(ended->usage) : "null")
    .raw("error", r.failure ? to_json_text(*r.failure) : "null");
  return out.finish();
}

std::string to_json_text(const explanation& e) {
  json::object_writer out;
  out
    .objects(
      "variables", e.variables,
      [&](const auto& v) {
        out.text("name", v.first).text("origin", v.second).text("value", "***");
      })
    .list("candidates", e.candidates,
          [&](backend_name k) { out.text(troupe::to_string(k)); })
    .list("reasons", e.reasons, [&](const auto& r) { out.text(r); })
    .raw("limits", json::to_text(to_json(e.limits)))
    .raw("network", json::to_text(to_json(e.network)))
    .text("isolation", troupe::to_string(e.isolation))
    .text("fingerprint", short_fingerprint(e.fingerprint));
  return out.finish();
}

std::string utf8_joiner::take(std::string_view bytes) {
  carry_ += bytes;
  // Look back at most three bytes for a beginning without its end.
  auto keep = std::size_t{0};
  for (std::size_t back = 1; back <= 3 && back <= carry_.size(); ++back) {
    auto c = static_cast<unsigned char>(carry_[carry_.size() - back]);
    auto length = sequence_length(c);
    if (length == 0)
      continue;
    if (length > back)
      keep = back;
    break;
  }
  auto whole = carry_.substr(0, carry_.size() - keep);
  carry_.erase(0, whole.size());
  return whole;
}

std::string_view to_string(run_event_kind kind) {
  switch (kind) {
  case run_event_kind::accepted:
    return "accepted";
  case run_event_kind::queued:
    return "queued";
  case run_event_kind::started:
    return "started";
  case run_event_kind::out:
    return "stdout";
  case run_event_kind::err:
    return "stderr";
  case run_event_kind::progress:
    return "progress";
  case run_event_kind::end:
    return "end";
  }
  return "";
}

std::string_view to_string(run_phase phase) {
  switch (phase) {
  case run_phase::queued:
    return "queued";
  case run_phase::preparing:
    return "preparing";
  case run_phase::running:
    return "running";
  case run_phase::ended:
    return "ended";
  }
  return "";
}

std::string_view stream_type(stream_format f) {
  return f == stream_format::sse ? "text/event-stream" : "application/x-ndjson";
}

std::string frame_entry(stream_format f, std::string_view event,
                        std::string data, std::uint64_t id) {
  if (f == stream_format::ndjson)
    return data += '\n';
  std::string out;
  if (id != 0)
    out = "id: " + std::to_string(id) + "\n";
  out.append("event: ").append(event).append("\ndata: ");
  return out.append(data).append("\n\n");
}

std::string event_lines::frame(const run_event& e,
                               std::string_view data) const {
  json::object_writer out;
  out.number("sequence", e.sequence).text("type", to_string(e.kind));
  if (e.kind == run_event_kind::end) {
    out.raw("result", e.result ? troupe::to_json_text(*e.result) : "null")
      .raw("error", e.failure ? to_json_text(*e.failure) : "null");
  } else if (!data.empty()) {
    out.text("data", data);
  }
  return frame_entry(format_, to_string(e.kind), out.finish(), e.sequence);
}

std::string event_lines::line(const run_event& e) {
  if (ended_)
    return {};
  if (e.kind == run_event_kind::out || e.kind == run_event_kind::err) {
    auto& joiner = e.kind == run_event_kind::out ? out_ : err_;
    // An empty piece is sent too: numbers stay without holes.
    return frame(e, joiner.take(e.data));
  }
  ended_ = e.kind == run_event_kind::end;
  return frame(e, e.data);
}

} // namespace troupe::net
