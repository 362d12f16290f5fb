#include "runtime/runner/agent_state.hpp"

#include "runtime/json/json.hpp"

#include <cstddef>
#include <utility>

namespace troupe::script {

namespace {

// Deep enough for every platform's state; the comparison recurses as deep.
constexpr json::parse_limits state_limits{.depth = 48, .bytes = 16u << 20};

/// "message_ids" says who is there as much as "id" does.
bool is_identity(std::string_view name) {
  return name == "id" || name == "ids" || name.ends_with("_id")
    || name.ends_with("_ids");
}

/// Whether anything in there is somebody: it may not come, go or move.
bool holds_identity(const json::value& v) {
  if (v.is_array()) {
    for (const auto& element : v.get_array())
      if (holds_identity(element))
        return true;
    return false;
  }
  if (!v.is_object())
    return false;
  for (const auto& [name, value] : v.get_object())
    if ((is_identity(name) && !value.is_null()) || holds_identity(value))
      return true;
  return false;
}

/// Numbers are one type to JSON, several to the library.
int type_of(const json::value& v) {
  if (v.is_number())
    return 1;
  if (v.is_bool())
    return 2;
  if (v.is_string())
    return 3;
  if (v.is_array())
    return 4;
  return v.is_object() ? 5 : 0;
}

class comparison {
public:
  /// Appends what leads from `before` to `after`; false: refused.
  bool compare(const json::value& before, const json::value& after,
               const std::string& at, bool in_record);

  bool compare_objects(const json::object& before, const json::object& after,
                       const std::string& at, bool is_record);

  error refusal() const {
    return bad_field("/agent_state" + where_, why_,
                     "a tool may change values, not identities");
  }
  std::string patch() { return json::to_text(json::value(std::move(ops_))); }

private:
  bool compare_arrays(const json::array& before, const json::array& after,
                      const std::string& at);
  bool refuse(const std::string& at, std::string why) {
    where_ = at;
    why_ = std::move(why);
    return false;
  }
  void put(std::string_view op, const std::string& at,
           const json::value* value) {
    json::object o;
    o["op"] = op;
    o["path"] = at;
    if (value != nullptr)
      o["value"] = *value;
    ops_.push_back(std::move(o));
  }

  json::array ops_;
  std::string where_;
  std::string why_;
};

bool comparison::compare(const json::value& before, const json::value& after,
                         const std::string& at, bool in_record) {
  if (before == after)
    return true;
  if (before.is_object() && after.is_object())
    return compare_objects(before.get_object(), after.get_object(), at,
                           before.get_object().contains("id"));
  if (before.is_array() && after.is_array())
    return compare_arrays(before.get_array(), after.get_array(), at);
  if (holds_identity(before) || holds_identity(after))
    return refuse(at, "something that has an id came or went");
  if (in_record && !before.is_null() && !after.is_null()
      && type_of(before) != type_of(after))
    return refuse(at, "its type changed");
  put("replace", at, &after);
  return true;
}

bool comparison::compare_objects(const json::object& before,
                                 const json::object& after,
                                 const std::string& at, bool is_record) {
  for (const auto& [name, value] : before) {
    auto path = json::child(at, name);
    const auto* now = after.if_contains(name);
    if (is_identity(name) && (now == nullptr || *now != value))
      return refuse(path, "an id changed");
    if (now != nullptr) {
      if (!compare(value, *now, path, is_record))
        return false;
      continue;
    }
    if (is_record || holds_identity(value))
      return refuse(path, "it is missing");
    put("remove", path, nullptr);
  }
  for (const auto& [name, value] : after) {
    if (before.contains(name))
      continue;
    auto path = json::child(at, name);
    if (is_record || is_identity(name) || holds_identity(value))
      return refuse(path, "it was not there before");
    put("add", path, &value);
  }
  return true;
}

bool comparison::compare_arrays(const json::array& before,
                                const json::array& after,
                                const std::string& at) {
  auto common = std::min(before.size(), after.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!compare(before[i], after[i], json::child(at, i), false))
      return false;
  // From the end, so that the paths of the others stay true.
  for (std::size_t i = before.size(); i > common; --i) {
    if (holds_identity(before[i - 1]))
      return refuse(json::child(at, i - 1), "it is missing");
    put("remove", json::child(at, i - 1), nullptr);
  }
  for (std::size_t i = common; i < after.size(); ++i) {
    if (holds_identity(after[i]))
      return refuse(json::child(at, i), "it was not there before");
    put("add", json::child(at, i), &after[i]);
  }
  return true;
}

} // namespace

result<state_change> compare_agent_state(std::string_view before,
                                         std::string_view after) {
  auto old_state = json::parse_object(before, state_limits);
  if (old_state.has_error())
    return old_state.error().within("agent_state before the run");
  auto new_state = json::parse_object(after, state_limits);
  if (new_state.has_error())
    return new_state.error().within("agent_state after the run");
  comparison c;
  if (!c.compare_objects(*old_state, *new_state, "", true))
    return c.refusal();
  return state_change{json::to_text(*new_state), c.patch()};
}

} // namespace troupe::script
