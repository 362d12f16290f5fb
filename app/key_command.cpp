#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/session_command.hpp"
#include "app/table.hpp"
#include "net/client/url.hpp"
#include "runtime/api_key.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/codec.hpp"
#include "storage/sealing/master_key.hpp"
#include "storage/sealing/sealer.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

using verb = api_session::verb;

struct key_options {
  std::string name;
  std::vector<std::string> scopes = {"run"};
  std::string organization; // "": ours
  int days = 0;
  bool as_json = false;
};

/// The store of the settings, opened alone: a running engine holds it.
result<store> open_kept(settings_options& from, store_options& options) {
  auto loaded = from.load();
  if (!loaded)
    return loaded.error();
  options = store_options_from(loaded->values);
  return open_store(options);
}

// -- rotate-master ------------------------------------------------------------

/// A key that the operator has put beside the one in use, else a new one.
result<master_key> next_key(const store_options& options,
                            const std::string& in_use) {
  auto where = options.master;
  if (where.file.empty())
    where.file = options.data_directory / "master.key";
  auto source = key_source::open(where, false);
  if (!source)
    return source.error();
  for (auto& key : source->all())
    if (key.id != in_use)
      return key.clone();
  return master_key::make(system_random());
}

int rotate_master(settings_options& from) {
  store_options options;
  auto kept = open_kept(from, options);
  if (!kept)
    return complain(kept.error());
  auto old = kept->seals->master_id();
  auto fresh = next_key(options, old);
  if (!fresh)
    return complain(fresh.error());
  auto tell = [](const rotation_progress& p) {
    std::cerr << p.step;
    if (p.total > 0)
      std::cerr << " " << p.done << " of " << p.total;
    std::cerr << "\n";
  };
  if (auto done = kept->seals->rotate_master(std::move(*fresh), tell); !done)
    return complain(done.error());
  std::cout << "master key " << old << " is replaced by "
            << kept->seals->master_id() << "\n";
  return exit_ok;
}

// -- create, list, delete -----------------------------------------------------

/// Shown once, never kept: this is where it leaves us.
result<int> create(const key_options& how, api_session& engine) {
  json::array scopes;
  for (auto& name : how.scopes)
    scopes.emplace_back(name);
  json::object body{{"name", how.name}};
  body["scopes"] = std::move(scopes);
  if (how.days > 0)
    body["expires_in_days"] = how.days;
  auto made = engine.call(verb::post, "/v1/keys", std::move(body));
  if (!made)
    return made.error();
  if (how.as_json) {
    std::cout << json::to_text(*made) << "\n";
    return int{exit_ok};
  }
  std::cout << cell(*made, "key") << "\n";
  std::cerr << "this is " << cell(*made, "id") << " of organization "
            << cell(*made, "organization_id") << "; it is not shown again\n";
  return int{exit_ok};
}

result<int> list(const key_options& how, api_session& engine) {
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
  rows.print(std::cout);
  return int{exit_ok};
}

result<int> remove(const key_options& how, api_session& engine) {
  auto gone
    = engine.call(verb::delete_, "/v1/keys/" + net::percent_encode(how.name));
  if (!gone)
    return gone.error();
  return int{exit_ok};
}

// -- for another organization -------------------------------------------------

std::uint8_t scopes_from(const std::vector<std::string>& names) {
  std::uint8_t all = 0;
  for (auto& name : names) {
    auto bit = name == "run" ? scope::run
      : name == "config"     ? scope::config
                             : scope::admin;
    all |= static_cast<std::uint8_t>(bit);
  }
  return all;
}

/// The first key of an organization: no key of another one may make it, so it
/// goes straight into the store.
int create_for(settings_options& from, const key_options& how) {
  auto owner = organization_id::parse(how.organization);
  if (!owner)
    return complain_about(
      bad_field("--org", "'" + how.organization + "' is no organization",
                "org- and a UUID, such as " + organization_id::make().str()));
  store_options options;
  auto kept = open_kept(from, options);
  if (!kept)
    return complain(kept.error());
  auto made = make_api_key(*owner, how.name, scopes_from(how.scopes));
  if (how.days > 0)
    made.record.expires_at
      = made.record.created_at + std::chrono::hours{24 * how.days};
  auto id = made.record.id.str();
  author by{*owner, default_user()};
  auto put = kept->catalog->apply(by, put_key{std::move(made.record)}, now());
  if (!put)
    return complain(put.error());
  if (!how.as_json) {
    std::cout << made.text.reveal() << "\n";
    std::cerr << "this is " << id << "; it is not shown again\n";
    return exit_ok;
  }
  json::object o;
  o["id"] = id;
  o["organization_id"] = owner->str();
  o["key"] = made.text.reveal();
  std::cout << json::to_text(o) << "\n";
  return exit_ok;
}

void add_create(CLI::App* group, invocation& call) {
  auto how = std::make_shared<key_options>();
  auto cmd
    = group->add_subcommand("create", "Make an API key and print it once");
  cmd->add_option("name", how->name, "For people")->required();
  cmd->add_option("--scope", how->scopes, "run, config or admin; several")
    ->delimiter(',')
    ->check(CLI::IsMember({"run", "config", "admin"}));
  cmd->add_option("--org", how->organization,
                  "Of another organization; the engine must not run");
  cmd->add_option("--days", how->days, "Until it expires; else never")
    ->check(CLI::Range(1, 3650));
  cmd->add_flag("--json", how->as_json, "For programs");
  auto session = add_session_options(*cmd);
  call.on(cmd, [how, session] {
    if (!how->organization.empty())
      return create_for(*session->from, *how);
    return in_session(
      *session, [&](api_session& engine) { return create(*how, engine); });
  });
}

} // namespace

void add_key_command(CLI::App& app, invocation& call) {
  auto key = app.add_subcommand("key", "Make API keys, change the master key");
  add_create(key, call);
  {
    auto [cmd, how] = add_session_command(key, call, "list",
                                          "Keys, without themselves", list);
    cmd->add_flag("--json", how->as_json, "For programs");
  }
  {
    auto [cmd, how]
      = add_session_command(key, call, "delete", "Delete a key", remove);
    cmd->add_option("ID", how->name, "As `troupe key list` shows it")
      ->required();
  }
  auto rotated = key->add_subcommand(
    "rotate-master", "Wrap every secret's key anew; the engine must not run");
  auto rotate_from = add_settings_options(*rotated);
  call.on(rotated, [rotate_from] { return rotate_master(*rotate_from); });
}

} // namespace troupe
