// A living sandbox as text, which is sealed as a whole.
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"
#include "runtime/model/run.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/sandbox_record_store.hpp"

namespace troupe {

namespace {

constexpr std::string_view stored_sandbox_name = "sandbox";

template <class Secrets>
json::object revealed(const Secrets& all) {
  json::object o;
  for (const auto& [name, value] : all)
    o[name] = value.reveal();
  return o;
}

template <class Secrets>
void read_secrets(json::reader& in, std::string_view name, Secrets& into) {
  const auto* all = in.member_object(name);
  if (!all)
    return;
  for (const auto& m : *all)
    if (const auto* text = m.value().if_string())
      into.emplace(std::string{m.key().data(), m.key().size()},
                   secret{std::string{text->data(), text->size()}});
}

timeout_action read_action(json::reader& in, std::string_view name) {
  const auto text = in.text(name).value_or("");
  for (auto each : {timeout_action::pause, timeout_action::stop})
    if (text == to_string(each))
      return each;
  return timeout_action::remove;
}

sandbox_end read_end(json::reader& in) {
  const auto text = in.text("end").value_or("");
  for (std::size_t i = 1; i < sandbox_ends; ++i)
    if (text == to_string(static_cast<sandbox_end>(i)))
      return static_cast<sandbox_end>(i);
  return sandbox_end::none;
}

/// An account that the settings no longer name keeps its sandboxes.
result<backend_name> read_place(const std::string& text) {
  if (auto known = parse_backend_name(text))
    return known;
  const auto dot = text.find('.');
  auto kind = parse_backend(text.substr(0, dot));
  if (!kind || dot == text.npos)
    return fail(ec::internal, "is no place");
  return backend_name::make(*kind, text.substr(dot + 1));
}

std::chrono::milliseconds read_ms(json::reader& in, std::string_view name) {
  const auto* v = in.member(name);
  if (!v || v->is_null())
    return std::chrono::milliseconds{0};
  auto time = parse_duration(*v, {});
  return time ? *time : std::chrono::milliseconds{0};
}

/// What has to be there for the record to mean anything.
bool read_identity(json::reader& in, sandbox_record& r) {
  auto id = sandbox_id::parse(in.required_text("id"));
  auto state = parse_sandbox_state(in.required_text("state"));
  auto place = read_place(in.required_text("place"));
  auto created = parse_timestamp(in.required_text("created_at"));
  r.organization = organization_id{in.required_text("organization_id")};
  if (!id || !state || !place || !created)
    return false;
  r.id = *id;
  r.state = *state;
  r.place = *place;
  r.created_at = *created;
  return true;
}

void read_clocks(json::reader& in, sandbox_record& r) {
  if (auto ends = parse_timestamp(in.text("ends_at").value_or("")))
    r.ends_at = *ends;
  r.timeout = read_ms(in, "timeout");
  r.on_timeout = read_action(in, "on_timeout");
  r.idle_timeout = read_ms(in, "idle_timeout");
  r.on_idle = read_action(in, "on_idle");
  r.auto_resume = in.boolean("auto_resume").value_or(false);
}

void read_bounds(json::reader& in, sandbox_record& r) {
  if (const auto* said = in.member_object("limits"))
    if (auto all = parse_limits(*said, {}))
      r.resources = apply(r.resources, *all, standard_ceiling());
  if (const auto* said = in.member("network"))
    if (auto policy = parse_network(*said, {}))
      r.network = *policy;
  if (auto level = parse_isolation(in.text("isolation").value_or("")))
    r.isolation = *level;
}

void read_failure(json::reader& in, sandbox_record& r) {
  const auto* why = in.member_object("error");
  const auto* detail = why ? why->if_contains("detail") : nullptr;
  if (detail && detail->is_string())
    r.failure = std::make_shared<const error>(
      fail(ec::unavailable, std::string{detail->as_string()}));
}

} // namespace

std::string encode_sandbox(const stored_sandbox& what) {
  auto o = to_json(what.record);
  o["limits"] = to_json(what.record.resources);
  o["env"] = revealed(what.env);
  o["box"] = what.box.id;
  o["box_keys"] = revealed(what.box.keys);
  o["box_env"] = revealed(what.box.env);
  return json::to_text(o);
}

result<stored_sandbox> decode_sandbox(std::string_view text) {
  auto parsed = json::parse_object(text);
  if (!parsed)
    return records::damaged(stored_sandbox_name, "does not read");
  json::reader in{*parsed};
  stored_sandbox s;
  auto& r = s.record;
  if (!read_identity(in, r))
    return records::damaged(stored_sandbox_name, "does not read");
  r.name = in.text("name").value_or("");
  r.template_name = in.text("template").value_or("");
  r.session = in.text("session").value_or("");
  read_clocks(in, r);
  read_bounds(in, r);
  if (const auto* pairs = in.member_object("metadata"))
    for (const auto& m : *pairs)
      if (const auto* value = m.value().if_string())
        r.metadata.emplace(std::string{m.key().data(), m.key().size()},
                           std::string{value->data(), value->size()});
  r.end = read_end(in);
  read_failure(in, r);
  read_secrets(in, "env", s.env);
  s.box.id = in.text("box").value_or("");
  read_secrets(in, "box_keys", s.box.keys);
  read_secrets(in, "box_env", s.box.env);
  if (in.finish_lenient())
    return records::damaged(stored_sandbox_name, "does not read");
  return s;
}

} // namespace troupe
