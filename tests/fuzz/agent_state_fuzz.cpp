// Two JSON texts, one per line: when a change is accepted, its patch leads from
// one to the other, and every id is where it was.
#include "runtime/json/json.hpp"
#include "runtime/runner/agent_state.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

/// RFC 6902, as far as our patches go.
void apply(json::value& target, const json::object& op) {
  std::string path{op.at("path").as_string()};
  auto cut = path.rfind('/');
  auto& parent = target.at_pointer(path.substr(0, cut));
  std::string last = path.substr(cut + 1);
  const auto* value = op.if_contains("value");
  if (parent.is_array()) {
    auto& list = parent.get_array();
    auto at = std::stoul(last);
    if (op.at("op") == "replace")
      list.at(at) = *value;
    else if (op.at("op") == "add")
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), *value);
    else
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  std::string name;
  for (std::size_t i = 0; i < last.size(); ++i)
    if (last[i] == '~' && i + 1 < last.size())
      name += last[++i] == '1' ? '/' : '~';
    else
      name += last[i];
  if (value != nullptr)
    parent.as_object()[name] = *value;
  else
    parent.as_object().erase(name);
}

void collect_ids(const json::value& v, const std::string& at,
                 std::vector<std::string>& out) {
  if (v.is_array())
    for (std::size_t i = 0; i < v.get_array().size(); ++i)
      collect_ids(v.get_array()[i], json::child(at, i), out);
  if (!v.is_object())
    return;
  for (const auto& [name, value] : v.get_object()) {
    auto path = json::child(at, name);
    if ((name == "id" || name.ends_with("_id")) && !value.is_null())
      out.push_back(path + "=" + json::to_text(value));
    collect_ids(value, path, out);
  }
}

std::vector<std::string> ids_of(const json::value& v) {
  std::vector<std::string> out;
  collect_ids(v, "", out);
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  auto cut = std::min(text.find('\n'), text.size());
  auto before = text.substr(0, cut);
  auto after = text.substr(std::min(cut + 1, text.size()));
  auto change = script::compare_agent_state(before, after);
  if (change.has_error())
    return 0;
  auto state = json::parse(before).value();
  auto target = json::parse(after).value();
  demand(ids_of(state) == ids_of(target));
  auto patch = json::parse(change->patch_json).value();
  for (const auto& op : patch.as_array())
    apply(state, op.as_object());
  demand(json::to_canonical(state) == json::to_canonical(target));
  return 0;
}
