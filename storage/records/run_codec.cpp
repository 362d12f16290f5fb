// The stored form of a run's record.
#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/run_store.hpp"

#include <array>

namespace troupe {

namespace {

constexpr std::string_view of_a_run = "run";
constexpr std::size_t usual_bytes = 320;    // of what is not the result
constexpr std::size_t max_text = 64u << 20; // written by ourselves
constexpr json::parse_limits result_limits{.depth = 128, .bytes = 256u << 20};

constexpr std::array<std::string_view, 4> phases{"queued", "preparing",
                                                 "running", "ended"};
constexpr std::array codes{ec::invalid_request, ec::not_found,   ec::conflict,
                           ec::denied,          ec::unavailable, ec::timeout,
                           ec::exhausted,       ec::internal,    ec::no_space};

void write(json::writer& w, const error& e) {
  w.begin('{');
  w.text("code", to_string(e.code));
  w.text("text", e.text);
  w.number("retry_after_ms", e.retry_after.count());
  w.objects("fields", e.fields, [&](const field_error& f) {
    w.text("pointer", f.pointer);
    w.text("reason", f.reason);
    w.text("hint", f.hint);
  });
  w.end('}');
}

error parse_error(const json::object& o) {
  error e;
  json::reader in{o};
  auto code = in.text("code").value_or("");
  for (auto c : codes)
    if (code == to_string(c))
      e.code = c;
  e.text = in.text("text", {.max = max_text}).value_or("");
  e.retry_after
    = std::chrono::milliseconds{in.integer("retry_after_ms", 0).value_or(0)};
  if (const auto* fields = in.member_array("fields"))
    for (const auto& field : *fields)
      if (const auto* f = field.if_object()) {
        json::reader one{*f};
        e.fields.push_back({one.text("pointer").value_or(""),
                            one.text("reason").value_or(""),
                            one.text("hint").value_or("")});
      }
  return e;
}

std::optional<run_phase> parse_phase(std::string_view text) {
  for (std::size_t i = 0; i < phases.size(); ++i)
    if (phases[i] == text)
      return static_cast<run_phase>(i);
  return {};
}

} // namespace

std::string encode_run(const run_record& r) {
  json::object_writer w{json::writer::style::brief};
  w.reserve(usual_bytes);
  w.text("id", r.id.str());
  w.text("organization_id", r.organization.str());
  w.text("phase", phases[static_cast<std::size_t>(r.phase)]);
  w.text("tool_name", r.tool_name);
  w.text("agent_id", r.agent_id);
  w.text("backend", to_string(r.backend));
  w.text("created_at", to_text(r.created_at));
  if (r.ended_at)
    w.text("ended_at", to_text(*r.ended_at));
  if (r.failure)
    write(w.name("failure"), *r.failure);
  w.texts_by_name("labels", r.labels);
  return records::encode_text(
    w.finish(), r.result ? to_stored_text(*r.result) : std::string{},
    r.request ? std::string_view{r.request->reveal()} : std::string_view{});
}

result<run_record> decode_run(std::string_view bytes) {
  auto parts = records::decode(bytes, of_a_run);
  if (!parts)
    return parts.error();
  json::reader in{parts->body};
  run_record r;
  r.id = run_id{in.required_text("id")};
  r.organization = organization_id{in.required_text("organization_id")};
  auto phase = parse_phase(in.required_text("phase"));
  r.tool_name = in.text("tool_name", {.max = max_text}).value_or("");
  r.agent_id = in.text("agent_id", {.max = max_text}).value_or("");
  auto backend = recall_backend_name(in.required_text("backend"));
  auto created = parse_timestamp(in.required_text("created_at"));
  if (auto text = in.text("ended_at"))
    if (auto ended = parse_timestamp(*text))
      r.ended_at = *ended;
  if (const auto* failure = in.member_object("failure"))
    r.failure = std::make_shared<const error>(parse_error(*failure));
  if (const auto* labels = in.member_object("labels"))
    for (const auto& [name, value] : *labels)
      if (const auto* text = value.if_string())
        r.labels.emplace(name, std::string_view{*text});
  if (!parts->secret.empty())
    r.request = std::make_shared<const secret>(std::string{parts->secret});
  if (in.finish_lenient() || !phase || !backend || !created)
    return records::damaged(of_a_run, "does not read");
  r.phase = *phase;
  r.backend = *backend;
  r.created_at = *created;
  if (parts->extra.empty())
    return r;
  auto body = json::parse_object(parts->extra, result_limits);
  if (!body)
    return records::damaged(of_a_run, "has a result that does not read");
  auto outcome = parse_run_result(*body);
  if (!outcome)
    return outcome.error().within("a stored run");
  r.result = std::make_shared<const run_result>(std::move(*outcome));
  return r;
}

} // namespace troupe
