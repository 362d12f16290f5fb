#include "net/mcp/methods.hpp"

#include "net/mcp/request_call.hpp"
#include "net/mcp/server_card.hpp"

#include <algorithm>
#include <iterator>

namespace troupe::net::mcp {

namespace {

constexpr method_entry all_methods[] = {
  {"server/discover", true, false, {}, discover},
  {"tools/list", true, true, {}, list_tools},
  {"tools/call", true, true, "name", call_tool},
  {"resources/list", true, true, {}, list_resources},
  {"resources/templates/list", true, true, {}, list_resource_templates},
  {"resources/read", true, true, "uri", read_resource},
  {"completion/complete", true, true, {}, complete},
  {"subscriptions/listen", true, false, {}, listen},
  {"ping", false, true, {}, ping},
  {"logging/setLevel", false, true, {}, set_log_level},
};

constexpr std::string_view log_levels[]
  = {"debug", "info",     "notice", "warning",
     "error", "critical", "alert",  "emergency"};

} // namespace

const method_entry* find_method(std::string_view name) {
  const auto found
    = std::find_if(std::begin(all_methods), std::end(all_methods),
                   [name](const method_entry& m) { return m.name == name; });
  return found == std::end(all_methods) ? nullptr : &*found;
}

bool is_modern_method(std::string_view name) {
  const auto* found = find_method(name);
  return found && found->modern;
}

std::string_view named_member(std::string_view method) {
  const auto* found = find_method(method);
  return found ? found->named : std::string_view{};
}

void discover(request_call& call) {
  call.answer(discover_members(), cached::for_an_hour);
}

void ping(request_call& call) {
  call.answer("");
}

/// What is logged here is for operators: there is nothing to filter.
void set_log_level(request_call& call) {
  const auto level = call.message().text("level");
  if (!level
      || std::find(std::begin(log_levels), std::end(log_levels), *level)
        == std::end(log_levels))
    return call.fail({200, codes::invalid_params,
                      "level must be one of debug, info, notice, warning, "
                      "error, critical, alert, emergency"});
  call.answer("");
}

} // namespace troupe::net::mcp
