#include "net/mcp/list_wish.hpp"

#include <algorithm>

namespace troupe::net::mcp {

namespace {

constexpr std::string_view own_set = "tools"; // of the organization's own

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (auto one = trim(text.substr(0, comma)); !one.empty())
      all.emplace_back(one);
    if (comma == text.npos)
      break;
    text.remove_prefix(comma + 1);
  }
  return all;
}

/// Names, of which `*` at the end stands for any rest.
bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [name](std::string_view each) {
    return each.ends_with('*')
      ? name.starts_with(each.substr(0, each.size() - 1))
      : name == each;
  });
}

std::string said(const request& in, std::string_view parameter,
                 std::string_view field) {
  if (auto value = url_parameter(in, parameter))
    return *value;
  return std::string{in.field(field)};
}

bool shows_name(const list_wish& wish, std::string_view set,
                std::string_view name) {
  if (names(wish.exclude, name))
    return false;
  if (wish.toolsets.empty() && wish.tools.empty())
    return true;
  return names(wish.toolsets, set) || names(wish.tools, name);
}

} // namespace

std::optional<std::string> url_parameter(const request& in,
                                         std::string_view name) {
  for (auto rest = in.query; !rest.empty();) {
    const auto end = rest.find('&');
    const auto pair = rest.substr(0, end);
    const auto equals = pair.find('=');
    if (percent_decode(pair.substr(0, equals), true) == name)
      return percent_decode(equals == pair.npos ? std::string_view{}
                                                : pair.substr(equals + 1),
                            true);
    if (end == rest.npos)
      break;
    rest.remove_prefix(end + 1);
  }
  return std::nullopt;
}

list_wish list_wish::of(const request& in) {
  list_wish wish;
  wish.toolsets = list_of(said(in, "toolsets", "troupe-toolsets"));
  wish.tools = list_of(said(in, "tools", "troupe-tools"));
  wish.exclude = list_of(said(in, "exclude", "troupe-exclude"));
  const auto read_only = said(in, "readonly", "troupe-readonly");
  wish.read_only = read_only == "1" || read_only == "true";
  wish.session_in_url = url_parameter(in, "session").has_value();
  return wish;
}

bool list_wish::shows(const toolkit::tool_entry& tool) const {
  return (!read_only || tool.hint('R'))
    && shows_name(*this, tool.toolset, tool.name);
}

bool list_wish::shows_stored(std::string_view name, bool is_read_only) const {
  return (!read_only || is_read_only) && shows_name(*this, own_set, name);
}

std::optional<toolkit::binding> session_for(request_call& call) {
  struct source {
    std::optional<std::string> name;
    std::string_view how;
  };
  const auto meta = [&](std::string_view name) -> std::optional<std::string> {
    const auto* value = call.message().meta(name);
    if (!value || !value->is_string())
      return std::nullopt;
    return std::string{value->get_string()};
  };
  const auto& in = call.http().in();
  std::optional<std::string> field;
  if (in.has("troupe-session"))
    field = std::string{in.field("troupe-session")};
  const source sources[] = {
    {meta("dev.troupe/session"), "named by _meta[\"dev.troupe/session\"]"},
    {std::move(field), "named by the field Troupe-Session"},
    {url_parameter(in, "session"), "named by ?session= of the URL"},
    {meta("openai/session"), "the conversation's"},
  };
  for (const auto& [name, how] : sources) {
    if (!name)
      continue;
    if (toolkit::is_session_name(*name))
      return toolkit::binding{*name, std::string{how}};
    call.fail({200, codes::invalid_params,
               "The session " + std::string{how}
                 + " has to have 1 to 128 characters of A-Z a-z 0-9 . _ : @ / "
                   "-"});
    return std::nullopt;
  }
  const auto key = call.who().key.str();
  return toolkit::binding{
    key.empty() ? "default" : "default@" + key,
    "default session of this key: shared by everything that uses the key"};
}

} // namespace troupe::net::mcp
