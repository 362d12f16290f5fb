#include "runtime/settings/render.hpp"

#include "runtime/settings/value.hpp"

namespace troupe {

namespace {

/// `; ` before every line of `text`, broken between words.
std::string commented(std::string_view text) {
  constexpr std::size_t width = 76;
  std::string out;
  while (!text.empty()) {
    auto cut = text.size();
    if (cut > width) {
      cut = text.rfind(' ', width);
      if (cut == text.npos)
        cut = width;
    }
    out += "; " + std::string{text.substr(0, cut)} + "\n";
    text.remove_prefix(std::min(text.size(), cut + 1));
  }
  return out;
}

std::string names_in_environment(const setting_key& key) {
  auto names = key.variable();
  for (auto& alias : key.aliases)
    names += ", " + std::string{alias.name};
  return names;
}

/// A value with the type that JSON has for it.
struct to_value {
  json::value operator()(bool* x) const { return *x; }
  json::value operator()(std::uint32_t* x) const { return *x; }
  json::value operator()(std::uint64_t* x) const { return *x; }
  json::value operator()(double* x) const { return *x; }
  json::value operator()(std::chrono::milliseconds* x) const {
    return json::value(spell_duration(*x));
  }
  json::value operator()(std::string* x) const { return json::value(*x); }
  json::value operator()(secret* x) const { return x->empty() ? "" : "***"; }
  json::value operator()(std::vector<std::string>* x) const {
    json::array items;
    for (auto& item : *x)
      items.emplace_back(item);
    return items;
  }
};

json::value value_json(settings from, const setting_key& key) {
  return std::visit(to_value{}, key.slot(from));
}

const char* to_text(origin_kind kind) {
  switch (kind) {
  case origin_kind::standard:
    return "default";
  case origin_kind::file:
    return "file";
  case origin_kind::environment:
    return "environment";
  case origin_kind::flag:
    return "flag";
  case origin_kind::program:
    return "program";
  }
  return "default";
}

json::object key_json(const setting_key& key) {
  json::array variables{key.variable()};
  for (auto& alias : key.aliases)
    variables.emplace_back(alias.name);
  json::object o;
  o["key"] = key.path();
  o["help"] = key.help;
  o["expects"] = key.expects();
  o["default"] = value_json({}, key);
  o["secret"] = key.is_secret();
  o["environment"] = std::move(variables);
  return o;
}

/// Calls `first` for each group that matches, then `each` for its keys.
template <class First, class Each>
void walk(std::string_view group, First first, Each each) {
  for (auto& g : setting_groups()) {
    if (!group.empty() && g.name != group)
      continue;
    first(g);
    for (auto& key : setting_keys())
      if (key.group == g.name)
        each(key);
  }
}

} // namespace

std::string render_ini() {
  std::string out
    = commented("All settings of troupe with their defaults. Remove the ; to "
                "change one. A flag (--group.key=value) overrides the "
                "environment, which overrides this file. `troupe config check` "
                "checks it without starting anything. Quotes are only required "
                "around strings that contain ; or #, which start a comment.");
  walk(
    {},
    [&](const setting_group& g) {
      out += "\n" + commented(g.help) + "[" + std::string{g.name} + "]\n";
    },
    [&](const setting_key& key) {
      out += "\n" + commented(key.help) + commented("  " + key.expects())
        + commented("  " + names_in_environment(key)) + ";"
        + std::string{key.name} + " = " + spelled({}, key) + "\n";
    });
  return out;
}

std::string render_values(const configuration& c, bool with_origin) {
  std::string out;
  walk(
    {},
    [&](const setting_group& g) {
      out += (out.empty() ? "[" : "\n[") + std::string{g.name} + "]\n";
    },
    [&](const setting_key& key) {
      out += std::string{key.name} + " = " + spelled(c.values, key);
      if (with_origin)
        out += " ; " + c.origin_of(key).where;
      out += "\n";
    });
  for (const auto& each : c.values.accounts) {
    const auto group = std::string{each.name.text()};
    out += "\n[" + group + "]\n";
    for (const auto& key : setting_keys())
      if (key.group == to_string(each.name.kind())) {
        out += std::string{key.name} + " = " + spelled(*each.as, key);
        const auto said = c.origins.find(group + "." + std::string{key.name});
        if (with_origin)
          out += " ; "
            + (said == c.origins.end() ? setting_origin{} : said->second).where;
        out += "\n";
      }
  }
  return out;
}

json::object values_json(const configuration& c) {
  json::object out;
  json::object* group = nullptr;
  walk(
    {}, [&](const setting_group& g) { group = &out[g.name].emplace_object(); },
    [&](const setting_key& key) {
      auto origin = c.origin_of(key);
      json::object o;
      o["value"] = value_json(c.values, key);
      o["origin"] = to_text(origin.kind);
      if (origin.kind != origin_kind::standard)
        o["where"] = origin.where;
      (*group)[key.name] = std::move(o);
    });
  return out;
}

std::string render_keys(std::string_view group) {
  std::string out;
  walk(
    group,
    [&](const setting_group& g) {
      out += (out.empty() ? "" : "\n") + std::string{g.name} + ": "
        + std::string{g.help} + "\n";
    },
    [&](const setting_key& key) {
      out += "\n  " + key.path() + " = " + spelled({}, key) + "\n      "
        + std::string{key.help} + "\n      " + key.expects() + "\n      "
        + names_in_environment(key) + "\n";
    });
  return out;
}

json::array keys_json(std::string_view group) {
  json::array out;
  walk(
    group, [](const setting_group&) {},
    [&](const setting_key& key) { out.push_back(key_json(key)); });
  return out;
}

} // namespace troupe
