#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/files.hpp"
#include "runtime/model/codec/fingerprint_forms.hpp"
#include "runtime/model/codec/support.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr std::size_t longest_result_text = 64u << 20;

using json::writer;

void write(writer& w, const tool_error& e) {
  w.name("error").begin('{');
  w.text("name", e.name);
  w.text("message", e.message);
  w.text("traceback", e.traceback);
  w.text("friendly", e.friendly);
  w.end('}');
}

void write(writer& w, const run_usage& u) {
  w.name("usage").begin('{');
  w.number("wall_us", u.wall.count());
  w.number("cpu_us", u.cpu.count());
  w.number("peak_memory_bytes", u.peak_memory_bytes);
  w.number("stdout_bytes", u.stdout_bytes);
  w.number("stderr_bytes", u.stderr_bytes);
  w.end('}');
}

/// As it usually is: then the names say all.
bool is_whole(const isolation_report& r) {
  return std::all_of(r.layers.begin(), r.layers.end(), [](const auto& layer) {
    return layer.state == layer_state::enforced && layer.reason.empty();
  });
}

void write(writer& w, const isolation_report& r) {
  w.name("isolation").begin('{');
  w.text("level", to_string(r.level));
  if (w.brief() && is_whole(r)) {
    w.list("enforced", r.layers, [&](const auto& x) { w.text(x.name); });
    w.end('}');
    return;
  }
  w.objects("layers", r.layers, [&](const isolation_layer& layer) {
    w.text("name", layer.name);
    w.text("state", to_string(layer.state));
    if (!layer.reason.empty())
      w.text("reason", layer.reason);
  });
  w.end('}');
}

/// How the tool's own JSON stands in ours.
enum class form { parsed, as_text };

void write_own_json(writer& w, const run_result& r, form f) {
  if (f == form::parsed)
    w.raw("value", r.value_json);
  else
    w.text("value_json", r.value_json);
  w.text("stdout", r.stdout_text);
  w.text("stderr", r.stderr_text);
}

void write_agent_state(writer& w, const run_result& r, form f) {
  if (f == form::parsed && !r.agent_state_json.empty())
    w.raw("agent_state", r.agent_state_json);
  if (f == form::parsed && !r.agent_state_diff.empty())
    w.raw("agent_state_diff", r.agent_state_diff);
  if (f == form::as_text && !r.agent_state_json.empty())
    w.text("agent_state_json", r.agent_state_json);
  if (f == form::as_text && !r.agent_state_diff.empty())
    w.text("agent_state_diff_json", r.agent_state_diff);
}

void write_lists(writer& w, const run_result& r, form f) {
  w.objects("stages", r.stages, [&](const run_stage& stage) {
    w.text("name", stage.name);
    w.number("took_us", stage.took.count());
  });
  w.text("backend", to_string(r.backend));
  w.text("fingerprint",
         f == form::parsed ? short_fingerprint(r.fingerprint)
                           : std::string_view{r.fingerprint});
  w.text("package_set", r.package_set);
  w.objects("failover", r.trail, [&](const failover_step& step) {
    w.text("backend", to_string(step.backend));
    w.text("reason", step.reason);
  });
  write(w, r.isolation);
  w.objects("network", r.network, [&](const auto& event) {
    w.text("target", event.target);
    w.boolean("allowed", event.allowed);
    w.text("reason", event.reason);
  });
  w.list("notes", r.notes, [&](const std::string& note) { w.text(note); });
}

/// The answer first, then what is known about it.
std::string text_as(const run_result& r, form f,
                    writer::style how = writer::style::full) {
  json::object_writer w{how};
  w.reserve(2'048 + r.value_json.size() + r.stdout_text.size()
            + r.stderr_text.size() + r.agent_state_json.size());
  w.text("id", r.id.str());
  w.text("status", f == form::parsed ? status_of(r) : to_string(r.status));
  w.text("reason", to_string(r.reason));
  if (f == form::parsed) {
    const auto code = shown_exit_code(r);
    const bool signaled = r.signal != 0;
    w.raw("exit_code", code ? std::to_string(*code) : "null");
    w.raw("signal", signaled ? std::to_string(r.signal) : "null");
  } else {
    w.number("exit_code", r.exit_code);
    w.number("signal", r.signal);
  }
  w.text("detail", r.detail);
  write_own_json(w, r, f);
  w.boolean("value_is_text_fallback", r.value_is_text_fallback);
  if (!r.value_encoding.empty())
    w.text("value_encoding", r.value_encoding);
  w.boolean("value_truncated", r.value_truncated);
  if (r.value_size != 0)
    w.number("value_size", r.value_size);
  codec::write_files(w, r);
  if (r.failure != tool_error{})
    write(w, r.failure);
  w.boolean("stdout_truncated", r.stdout_truncated);
  w.boolean("stderr_truncated", r.stderr_truncated);
  write(w, r.usage);
  write_lists(w, r, f);
  write_agent_state(w, r, f);
  return w.finish();
}

} // namespace

json::object to_json(const isolation_report& r) {
  json::array layers;
  for (auto& layer : r.layers) {
    json::object o;
    o["name"] = layer.name;
    o["state"] = to_string(layer.state);
    if (!layer.reason.empty())
      o["reason"] = layer.reason;
    layers.push_back(std::move(o));
  }
  json::object o;
  o["level"] = to_string(r.level);
  o["layers"] = std::move(layers);
  return o;
}

std::string to_json_text(const run_result& r) {
  return text_as(r, form::parsed);
}

std::string to_wire_text(const run_result& r) {
  return text_as(r, form::as_text);
}

std::string to_stored_text(const run_result& r) {
  return text_as(r, form::as_text, writer::style::brief);
}

json::object to_wire(const run_result& r) {
  // Our own text, whose only foreign parts are escaped: it always parses.
  auto text = to_wire_text(r);
  return json::parse_object(text, {.bytes = text.size()}).value();
}

// -- reading -----------------------------------------------------------------

namespace {

std::string long_text(json::reader& in, std::string_view name) {
  return in.text(name, {.max = longest_result_text}).value_or("");
}

/// JSON text in the member `as_text`, or a value in the member `as_value`.
std::string read_json(json::reader& in, std::string_view as_value,
                      std::string_view as_text, std::string_view absent) {
  if (auto text = in.text(as_text, {.max = longest_result_text})) {
    auto ok = json::check(*text, {.depth = 64, .bytes = longest_result_text});
    if (!ok)
      in.absorb(codec::moved_below(in.pointer_to(as_text), ok.error()));
    return *text;
  }
  auto* v = in.member(as_value);
  return v == nullptr ? std::string{absent} : json::to_text(*v);
}

std::uint64_t count(json::reader& in, std::string_view name) {
  return static_cast<std::uint64_t>(in.integer(name, 0).value_or(0));
}

run_usage read_usage(json::reader& in) {
  run_usage u;
  auto* o = in.member_object("usage");
  if (o == nullptr)
    return u;
  json::reader usage{*o, in.pointer_to("usage")};
  u.wall = std::chrono::microseconds{count(usage, "wall_us")};
  u.cpu = std::chrono::microseconds{count(usage, "cpu_us")};
  u.peak_memory_bytes = count(usage, "peak_memory_bytes");
  u.stdout_bytes = count(usage, "stdout_bytes");
  u.stderr_bytes = count(usage, "stderr_bytes");
  if (auto bad = usage.finish_lenient())
    in.absorb(std::move(*bad));
  return u;
}

tool_error read_failure(json::reader& in) {
  tool_error e;
  auto* o = in.member_object("error");
  if (o == nullptr)
    return e;
  json::reader failure{*o, in.pointer_to("error")};
  e.name = long_text(failure, "name");
  e.message = long_text(failure, "message");
  e.traceback = long_text(failure, "traceback");
  e.friendly = long_text(failure, "friendly");
  if (auto bad = failure.finish_lenient())
    in.absorb(std::move(*bad));
  return e;
}

/// Calls `each` with a reader for every object of a list.
template <class Function>
void for_each_object(json::reader& in, std::string_view name, Function each) {
  auto* list = in.member_array(name);
  if (list == nullptr)
    return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto pointer = json::child(in.pointer_to(name), i);
    auto* o = (*list)[i].if_object();
    if (o == nullptr) {
      in.absorb(bad_field(pointer, "expected an object"));
      return;
    }
    json::reader item{*o, pointer};
    each(item);
    if (auto bad = item.finish_lenient())
      in.absorb(std::move(*bad));
  }
}

isolation_report read_isolation(json::reader& in) {
  isolation_report report;
  auto* o = in.member_object("isolation");
  if (o == nullptr)
    return report;
  json::reader whole{*o, in.pointer_to("isolation")};
  report.level = codec::value_or_complain(
    whole, "level", parse_isolation(whole.required_text("level")));
  for (auto& name : codec::read_texts(whole, "enforced", 1'000, 1'000))
    report.layers.push_back({std::move(name), layer_state::enforced, {}});
  for_each_object(whole, "layers", [&](json::reader& item) {
    isolation_layer layer;
    layer.name = item.required_text("name");
    auto state = item.one_of("state", {"enforced", "degraded", "absent"});
    for (auto s : {layer_state::enforced, layer_state::degraded})
      if (state == to_string(s))
        layer.state = s;
    layer.reason = long_text(item, "reason");
    report.layers.push_back(std::move(layer));
  });
  if (auto bad = whole.finish_lenient())
    in.absorb(std::move(*bad));
  return report;
}

void read_lists(json::reader& in, run_result& r) {
  for_each_object(in, "stages", [&](json::reader& item) {
    auto name = item.required_text("name");
    r.stages.push_back(
      {std::move(name), std::chrono::microseconds{count(item, "took_us")}});
  });
  for_each_object(in, "failover", [&](json::reader& item) {
    auto kind = codec::value_or_complain(
      item, "backend", recall_backend_name(item.required_text("backend")));
    r.trail.push_back({kind, long_text(item, "reason")});
  });
  for_each_object(in, "network", [&](json::reader& item) {
    auto target = item.required_text("target");
    bool allowed = item.boolean("allowed").value_or(false);
    r.network.push_back(
      {std::move(target), allowed, long_text(item, "reason")});
  });
  r.notes = codec::read_texts(in, "notes", 10'000, longest_result_text);
}

} // namespace

result<run_result> parse_run_result(const json::object& body) {
  json::reader in{body};
  run_result r;
  r.id = codec::stored_id<run_id>(in, "id");
  r.status
    = in.one_of("status",
                {"success", "error", "timeout", "limit", "cancelled", "lost"})
      == "success"
    ? run_status::success
    : run_status::error;
  r.reason = codec::value_or_complain(
    in, "reason", parse_exit_reason(in.required_text("reason")));
  r.exit_code = static_cast<std::int32_t>(
    in.integer("exit_code", INT32_MIN, INT32_MAX).value_or(0));
  r.signal
    = static_cast<std::int32_t>(in.integer("signal", 0, INT32_MAX).value_or(0));
  r.detail = long_text(in, "detail");
  r.value_json = read_json(in, "value", "value_json", "null");
  r.value_is_text_fallback
    = in.boolean("value_is_text_fallback").value_or(false);
  r.value_encoding = in.text("value_encoding").value_or("");
  r.value_truncated = in.boolean("value_truncated").value_or(false);
  r.value_size = count(in, "value_size");
  codec::read_files(in, r);
  r.failure = read_failure(in);
  r.stdout_text = long_text(in, "stdout");
  r.stderr_text = long_text(in, "stderr");
  r.stdout_truncated = in.boolean("stdout_truncated").value_or(false);
  r.stderr_truncated = in.boolean("stderr_truncated").value_or(false);
  r.agent_state_json = read_json(in, "agent_state", "agent_state_json", "");
  r.agent_state_diff
    = read_json(in, "agent_state_diff", "agent_state_diff_json", "");
  r.usage = read_usage(in);
  if (auto text = in.text("backend"))
    r.backend
      = codec::value_or_complain(in, "backend", recall_backend_name(*text));
  r.fingerprint = long_text(in, "fingerprint");
  r.package_set = long_text(in, "package_set");
  r.isolation = read_isolation(in);
  read_lists(in, r);
  if (auto bad = in.finish_lenient())
    return *bad;
  return r;
}

} // namespace troupe
