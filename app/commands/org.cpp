#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "net/http/url.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

struct org_words {
  std::string id;
  bool sure = false;
  bool as_json = false;
};

result<int> list_organizations(const org_words& said, api_client& engine) {
  auto shown = print_list(engine, "/v1/organizations", said.as_json,
                          {{"ID", "id"},
                           {"TOOLS", "tools"},
                           {"CONFIGS", "sandbox_configs"},
                           {"VARIABLES", "variables"},
                           {"KEYS", "keys"}});
  if (!shown || said.as_json)
    return shown;
  auto own = engine.call(verb::get, "/v1/organizations/self");
  if (own && cell(*own, "can_operate") != "true")
    std::cerr << "only the organization of this API key; operators see all\n";
  return shown;
}

result<int> show_own(const org_words& said, api_client& engine) {
  auto own = engine.call(verb::get, "/v1/organizations/self");
  if (!own)
    return own.error();
  if (said.as_json) {
    std::cout << json::to_text(*own) << "\n";
    return int{exit_ok};
  }
  table rows{{"MEMBER", "VALUE"}};
  for (const auto& member : own->as_object())
    rows.add({std::string{member.key()}, cell(*own, member.key())});
  rows.show();
  return int{exit_ok};
}

/// Nothing brings it back: its secrets' key goes, too.
result<int> delete_one(const org_words& said, api_client& engine) {
  if (!said.sure)
    return bad_field(
      "--yes",
      "this deletes " + said.id
        + " and all its tools, variables, keys and runs, and nothing brings "
          "them back",
      "add --yes");
  auto gone = engine.call(verb::delete_,
                          "/v1/organizations/" + net::percent_encode(said.id));
  if (!gone)
    return gone.error();
  return print_deleted(said.id, said.as_json);
}

} // namespace

void add_org_command(CLI::App& app, invocation& call) {
  auto group = app.add_subcommand("org", "List and delete organizations");
  add_session_command(group, call, "list",
                      "List organizations and what each contains: all of "
                      "them for operators, else the caller's",
                      list_organizations);
  add_session_command(group, call, "show",
                      "Show the caller's organization and permissions",
                      show_own);
  auto [cmd, said] = add_session_command(
    group, call, "delete", "Delete an organization and everything in it",
    delete_one);
  cmd->add_option("ID", said->id, "Organization id, from `troupe org list`")
    ->required();
  cmd->add_flag("--yes", said->sure, "Do not ask for confirmation");
}

} // namespace troupe
