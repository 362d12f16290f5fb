#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "net/http/url.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

using verb = api_client::verb;

struct key_options {
  std::string name;
  std::vector<std::string> scopes = {"run"};
  std::string organization; // "": ours
  int days = 0;
  std::string format = "troupe";
  bool as_json = false;
};

// -- rotate-master ------------------------------------------------------------

result<int> rotate_master(const key_options& how, api_client& engine) {
  engine.act_as_operator();
  auto done = engine.call(verb::post, "/v1/maintenance/master-key");
  if (!done)
    return done.error();
  if (how.as_json)
    std::cout << json::to_text(*done) << "\n";
  else
    std::cout << "master key " << cell(*done, "old_key_id")
              << " is replaced by " << cell(*done, "new_key_id") << "\n";
  return int{exit_ok};
}

// -- create, list, delete -----------------------------------------------------

/// Who gives none sees in a listing what the key is good for.
std::string name_of(const key_options& how) {
  if (!how.name.empty())
    return how.name;
  std::string all;
  for (auto& scope : how.scopes)
    all += (all.empty() ? "" : "+") + scope;
  return all;
}

result<organization_id> organization_of(const key_options& how) {
  if (how.organization == "new")
    return organization_id::make();
  auto id = organization_id::parse(how.organization);
  if (!id)
    return bad_field("--org",
                     "'" + how.organization + "' is not an organization",
                     "use one from `troupe org list`, or `new` to create one");
  return id;
}

/// Shown once, never kept: this is where it leaves us.
result<int> create(const key_options& how, api_client& engine) {
  json::array scopes;
  for (auto& name : how.scopes)
    scopes.emplace_back(name);
  json::object body{{"name", name_of(how)}};
  body["scopes"] = std::move(scopes);
  if (how.days > 0)
    body["expires_in_days"] = how.days;
  if (how.format != "troupe")
    body["format"] = how.format;
  if (!how.organization.empty()) {
    auto id = organization_of(how);
    if (!id)
      return id.error();
    body["organization_id"] = id->str();
    engine.act_as_operator();
  }
  auto made = engine.call(verb::post, "/v1/keys", std::move(body));
  if (!made)
    return made.error();
  if (how.as_json) {
    std::cout << json::to_text(*made) << "\n";
    return int{exit_ok};
  }
  std::cout << cell(*made, "key") << "\n";
  std::cerr << "this is " << cell(*made, "id") << " of organization "
            << cell(*made, "organization_id")
            << "; it will not be shown again\n";
  return int{exit_ok};
}

result<int> list(const key_options& how, api_client& engine) {
  auto all = engine.call(verb::get, "/v1/keys");
  if (!all)
    return all.error();
  auto& items = all->as_object()["items"];
  if (how.as_json) {
    std::cout << json::to_text(items) << "\n";
    return int{exit_ok};
  }
  table rows{{"NAME", "SCOPES", "ID", "CREATED", "EXPIRES"}};
  for (const auto& key : items.as_array())
    rows.add({cell(key, "name"), cell(key, "scopes"), cell(key, "id"),
              cell(key, "created_at"), cell(key, "expires_at")});
  rows.show();
  return int{exit_ok};
}

result<int> remove(const key_options& how, api_client& engine) {
  auto gone
    = engine.call(verb::delete_, "/v1/keys/" + net::percent_encode(how.name));
  if (!gone)
    return gone.error();
  return print_deleted(how.name, how.as_json);
}

void add_create(CLI::App* group, invocation& call) {
  auto [cmd, how] = add_session_command(
    group, call, "create", "Create an API key and print it once", create);
  cmd->add_option("NAME", how->name, "Display name (default: its scopes)");
  cmd
    ->add_option("--scope", how->scopes,
                 "run (the default): run tools; config: tools, variables and "
                 "configs; admin: both, keys and the audit log; operator: all "
                 "of it for every organization, backups, master key "
                 "(repeatable)")
    ->delimiter(',')
    ->allow_extra_args(false) // else it takes the name as well
    ->check(CLI::IsMember({"run", "config", "admin", "operator"}));
  cmd->add_option("--org", how->organization,
                  "Organization id, or `new` (operators only)");
  cmd->add_option("--days", how->days, "Days until it expires (default: never)")
    ->check(CLI::Range(1, 3650));
  cmd
    ->add_option("--format", how->format,
                 "How the key looks: troupe, or e2b for clients of E2B")
    ->check(CLI::IsMember({"troupe", "e2b"}));
}

} // namespace

void add_key_command(CLI::App& app, invocation& call) {
  auto key
    = app.add_subcommand("key", "Manage API keys, rotate the master key");
  add_create(key, call);
  {
    auto [cmd, how] = add_session_command(
      key, call, "list", "List keys, without their secrets", list);
  }
  {
    auto [cmd, how]
      = add_session_command(key, call, "delete", "Delete a key", remove);
    cmd->add_option("ID", how->name, "Key id, from `troupe key list`")
      ->required();
  }
  add_session_command(key, call, "rotate-master",
                      "Rotate the master key while the engine is running",
                      rotate_master);
}

} // namespace troupe
