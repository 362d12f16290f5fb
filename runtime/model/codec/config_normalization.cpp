// From what a client sends to what is stored: docs/reference/letta.md#configs.
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

using names = std::vector<std::string_view>;

/// The members of one kind's configs beside those that all have, and what a
/// new one says without being told.
struct config_format {
  names own;
  json::object defaults;
};

const config_format& format_of(backend_kind type) {
  auto seconds = [](auto timeout) { return json::value(timeout.count()); };
  static const std::array<config_format, backend_kinds> formats{{
    {{"pip_requirements", "npm_requirements", "sandbox_dir", "use_venv",
      "venv_name"},
     {{"use_venv", false},
      {"venv_name", "venv"},
      {"pip_requirements", json::array{}}}},
    {{"pip_requirements", "npm_requirements", "timeout", "template", "reuse"},
     {{"timeout", seconds(e2b_config{}.timeout)}}},
    {{"pip_requirements", "npm_requirements", "timeout", "language"},
     {{"timeout", seconds(modal_config{}.timeout)}, {"language", "python"}}},
    {{"pip_requirements", "npm_requirements", "timeout", "snapshot", "image",
      "reuse"},
     {{"timeout", seconds(daytona_config{}.timeout)}}},
    {{"pip_requirements", "npm_requirements", "timeout"},
     {{"timeout", seconds(aio_config{}.timeout)}}},
    {{}, {}},
  }};
  return formats[static_cast<std::size_t>(type)];
}

/// `type` is accepted everywhere and stored nowhere: the record has it.
names known_members(backend_kind type) {
  names known{"type", "limits", "network", "isolation",
              "allow_weaker_fallback"};
  const auto& own = format_of(type).own;
  known.insert(known.end(), own.begin(), own.end());
  return known;
}

json::object without_nulls(const json::object& from) {
  json::object out;
  for (auto& m : from) {
    if (auto* nested = m.value().if_object())
      out[m.key()] = without_nulls(*nested);
    else if (!m.value().is_null())
      out[m.key()] = m.value();
  }
  return out;
}

json::object as_parts(const pip_requirement& r) {
  auto name = r;
  name.specifier.clear();
  json::object o;
  o["name"] = to_string(name);
  std::string_view version = r.specifier;
  if (version.starts_with("==") && !version.starts_with("===")
      && version.find(',') == version.npos)
    version.remove_prefix(2);
  if (!version.empty())
    o["version"] = version;
  return o;
}

json::object as_parts(const npm_requirement& r) {
  json::object o;
  o["name"] = r.name;
  if (!r.version.empty())
    o["version"] = r.version;
  return o;
}

/// Local configs hold {name, version} objects, the others texts. What already
/// has that form stays as it was sent, because fingerprints cover it.
template <class Requirement>
json::array in_native_form(backend_kind type, const json::array& sent,
                           const std::vector<Requirement>& parsed) {
  json::array out;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    bool wants_object = type == backend_kind::local;
    if (auto* o = sent[i].if_object(); o != nullptr && wants_object)
      out.push_back(without_nulls(*o));
    else if (wants_object)
      out.push_back(as_parts(parsed[i]));
    else if (sent[i].is_string())
      out.push_back(sent[i]);
    else
      out.push_back(json::value(to_string(parsed[i])));
  }
  return out;
}

void settle_requirements(backend_kind type, json::object& config) {
  if (auto* list = config.if_contains("pip_requirements"))
    if (auto parsed = parse_pip_list(*list, ""))
      *list = in_native_form(type, list->as_array(), *parsed);
  if (auto* list = config.if_contains("npm_requirements"))
    if (auto parsed = parse_npm_list(*list, ""))
      *list = in_native_form(type, list->as_array(), *parsed);
}

/// The members that the server fills in even on an update.
void inject(backend_kind type, json::object& config,
            const config_defaults& defaults) {
  if (type == backend_kind::local && !config.contains("sandbox_dir"))
    config["sandbox_dir"] = defaults.sandbox_dir;
  if (type == backend_kind::e2b && !config.contains("template")
      && !defaults.e2b_template_id.empty())
    config["template"] = defaults.e2b_template_id;
}

void fill_in(backend_kind type, json::object& config) {
  for (const auto& each : format_of(type).defaults)
    if (!config.contains(each.key()))
      config[each.key()] = each.value();
}

} // namespace

result<json::object> normalize_update(backend_kind type,
                                      const json::object& payload,
                                      const config_defaults& defaults,
                                      unknown_members policy) {
  auto known = known_members(type);
  json::object config;
  json::reader in{payload};
  for (auto name : known)
    if (auto* v = in.member(name); v != nullptr && name != "type")
      config[name] = *v;
  if (auto named = in.text("type"); named && *named != to_string(type))
    in.complain("type", "the config is of type " + std::string{to_string(type)},
                "send the same type, or leave it out");
  if (auto read = requirements_of(type, config); !read)
    in.absorb(std::move(read).error());
  auto bad
    = policy == unknown_members::refuse ? in.finish() : in.finish_lenient();
  if (bad)
    return *bad;
  config = without_nulls(config);
  settle_requirements(type, config);
  inject(type, config, defaults);
  return config;
}

result<json::object> normalize_config(backend_kind type,
                                      const json::object& payload,
                                      const config_defaults& defaults,
                                      unknown_members policy) {
  auto config = normalize_update(type, payload, defaults, policy);
  if (config)
    fill_in(type, *config);
  return config;
}

result<json::object> standard_config(backend_kind type,
                                     const config_defaults& defaults) {
  json::object said;
  if (type == backend_kind::local && !defaults.venv_name.empty()) {
    said["use_venv"] = true;
    said["venv_name"] = defaults.venv_name;
  }
  return normalize_config(type, said, defaults, unknown_members::refuse);
}

// -- recognizing -------------------------------------------------------------

namespace {

/// One of the three kinds of payload that Letta tells apart by their members.
struct candidate {
  backend_kind type;
  names members;
  std::string_view injected; // counts even when absent; "": nothing
};

bool is_list_of(const json::value& v, boost::json::kind kind) {
  auto* list = v.if_array();
  return list != nullptr
    && std::all_of(list->begin(), list->end(),
                   [&](auto& item) { return item.kind() == kind; });
}

bool fits(const candidate& c, std::string_view name, const json::value& v) {
  bool is_local = c.type == backend_kind::local;
  if (name == "use_venv")
    return v.is_bool();
  if (name == "venv_name")
    return v.is_string();
  if (name == "timeout")
    return v.is_int64() || v.is_uint64();
  if (name == "language")
    return v == "python" || v == "typescript";
  if (name == "pip_requirements" || name == "npm_requirements")
    return is_list_of(v,
                      is_local ? boost::json::kind::object
                               : boost::json::kind::string)
      || (v.is_null() && !is_local);
  return v.is_string() || v.is_null(); // sandbox_dir, template
}

/// Nothing when the payload cannot be of this kind.
std::optional<std::size_t> score(const candidate& c,
                                 const json::object& payload) {
  std::size_t points = 0;
  for (auto name : c.members) {
    auto* v = payload.if_contains(name);
    if (v != nullptr && !fits(c, name, *v))
      return std::nullopt;
    if (v != nullptr || name == c.injected)
      ++points;
  }
  return points;
}

} // namespace

result<backend_kind> recognize_config(const json::object& payload) {
  if (auto* named = payload.if_contains("type"); named && named->is_string()) {
    auto& text = named->get_string();
    auto type = parse_backend({text.data(), text.size()});
    if (!type)
      return bad_field("/type", type.error().fields[0].reason,
                       type.error().fields[0].hint);
    return type;
  }
  // In the order that wins ties.
  static const std::array<candidate, 3> candidates{{
    {backend_kind::local,
     {"sandbox_dir", "use_venv", "venv_name", "pip_requirements"},
     "sandbox_dir"},
    {backend_kind::e2b,
     {"timeout", "template", "pip_requirements"},
     "template"},
    {backend_kind::modal,
     {"timeout", "pip_requirements", "npm_requirements", "language"},
     ""},
  }};
  std::optional<std::size_t> best;
  auto type = backend_kind::local;
  for (auto& c : candidates) {
    auto points = score(c, payload);
    if (points && (!best || *points > *best)) {
      best = points;
      type = c.type;
    }
  }
  if (!best)
    return bad_field("", "the config matches none of local, e2b and modal",
                     "set \"type\"");
  return type;
}

} // namespace troupe
