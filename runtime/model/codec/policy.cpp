#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/support.hpp"
#include "runtime/model/host_pattern.hpp"

namespace troupe {

namespace {

// A list is walked for every connection of a run.
constexpr std::size_t most_hosts = 256;
constexpr std::size_t longest_host = 300;
constexpr std::size_t most_requirements = 256;
constexpr std::size_t longest_requirement = 512;

constexpr std::string_view network_hint
  = "send \"off\", \"public\" or {\"allow\": [\"example.org:443\"]}";

std::string_view view(const boost::json::string& s) {
  return {s.data(), s.size()};
}

result<pip_requirement> parse_text(const pip_requirement&,
                                   std::string_view text) {
  return parse_pip(text);
}
result<npm_requirement> parse_text(const npm_requirement&,
                                   std::string_view text) {
  return parse_npm(text);
}

const std::string& version_of(const pip_requirement& r) {
  return r.specifier;
}
const std::string& version_of(const npm_requirement& r) {
  return r.version;
}

/// How name and version are one text: "==" unless the version says otherwise.
std::string joined(const pip_requirement&, const std::string& name,
                   const std::string& version) {
  if (version.empty())
    return name;
  bool has_operator
    = std::string_view{"=<>!~"}.find(version[0]) != std::string_view::npos;
  return name + (has_operator ? "" : "==") + version;
}
std::string joined(const npm_requirement&, const std::string& name,
                   const std::string& version) {
  return version.empty() ? name : name + "@" + version;
}

template <class Requirement>
result<Requirement> parse_one(const json::value& v,
                              const std::string& pointer) {
  Requirement kind;
  if (auto* s = v.if_string()) {
    auto r = parse_text(kind, view(*s));
    if (!r)
      return codec::moved_below(pointer, r.error());
    return r;
  }
  auto* o = v.if_object();
  if (o == nullptr)
    return bad_field(pointer, "expected a string or an object",
                     "send \"name\" or {\"name\": ..., \"version\": ...}");
  json::reader in{*o, pointer};
  auto name = in.required_text("name", {.min = 1, .max = longest_requirement});
  auto version = in.text("version", {.max = longest_requirement}).value_or("");
  if (auto bad = in.finish())
    return *bad;
  // The name alone must be one, so that no part can borrow from the other.
  auto alone = parse_text(kind, name);
  if (!alone)
    return codec::moved_below(pointer + "/name", alone.error());
  if (!version_of(*alone).empty() && version.empty())
    return alone; // it says all of it by itself
  if (!version_of(*alone).empty())
    return bad_field(pointer + "/name", "contains a version",
                     "move it to \"version\"");
  auto r = parse_text(kind, joined(kind, name, version));
  if (!r)
    return codec::moved_below(pointer + "/version", r.error());
  return r;
}

template <class Requirement>
result<std::vector<Requirement>> parse_list(const json::value& body,
                                            const std::string& pointer) {
  auto* list = body.if_array();
  if (list == nullptr)
    return bad_field(pointer, "expected an array of requirements");
  if (list->size() > most_requirements)
    return bad_field(pointer,
                     "has more than " + std::to_string(most_requirements)
                       + " requirements");
  std::vector<Requirement> out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto r = parse_one<Requirement>((*list)[i], json::child(pointer, i));
    if (!r)
      return r.error();
    out.push_back(std::move(*r));
  }
  return out;
}

template <class Requirement>
json::array listed(const std::vector<Requirement>& list) {
  json::array out;
  for (auto& r : list)
    out.push_back(json::value(to_string(r)));
  return out;
}

} // namespace

result<network_policy> parse_network(const json::value& body,
                                     std::string pointer) {
  if (auto* s = body.if_string()) {
    if (view(*s) == "off")
      return network_policy{network_mode::off, {}};
    if (view(*s) == "public")
      return network_policy{network_mode::open, {}};
  }
  auto* o = body.if_object();
  if (o == nullptr)
    return bad_field(std::move(pointer), "is not a network policy",
                     std::string{network_hint});
  json::reader in{*o, std::move(pointer)};
  network_policy p{network_mode::listed, {}};
  if (!in.has("allow"))
    in.complain("allow", "is missing", std::string{network_hint});
  p.allow = codec::read_texts(in, "allow", most_hosts, longest_host);
  for (std::size_t i = 0; i < p.allow.size(); ++i)
    if (auto one = parse_host_pattern(p.allow[i]); !one)
      in.absorb(codec::moved_below(json::child(in.pointer_to("allow"), i),
                                   one.error()));
  if (auto bad = in.finish())
    return *bad;
  return p;
}

json::value to_json(const network_policy& p) {
  if (p.mode != network_mode::listed)
    return json::value(to_string(p.mode));
  json::object o;
  o["allow"] = codec::texts(p.allow);
  return o;
}

result<std::vector<pip_requirement>> parse_pip_list(const json::value& body,
                                                    std::string pointer) {
  return parse_list<pip_requirement>(body, pointer);
}

result<std::vector<npm_requirement>> parse_npm_list(const json::value& body,
                                                    std::string pointer) {
  return parse_list<npm_requirement>(body, pointer);
}

json::array to_json(const std::vector<pip_requirement>& list) {
  return listed(list);
}

json::array to_json(const std::vector<npm_requirement>& list) {
  return listed(list);
}

} // namespace troupe
