#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/settings_options.hpp"
#include "runtime/api_key.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/codec.hpp"
#include "storage/sealing/master_key.hpp"
#include "storage/sealing/sealer.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

struct key_options {
  std::string name;
  std::vector<std::string> scopes = {"run"};
  bool as_json = false;
};

int failed(const error& why) {
  return complain(why.text, why.code == ec::internal ? exit_ours : exit_usage);
}

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
    return failed(kept.error());
  auto old = kept->seals->master_id();
  auto fresh = next_key(options, old);
  if (!fresh)
    return failed(fresh.error());
  auto tell = [](const rotation_progress& p) {
    std::cerr << p.step;
    if (p.total > 0)
      std::cerr << " " << p.done << " of " << p.total;
    std::cerr << "\n";
  };
  if (auto done = kept->seals->rotate_master(std::move(*fresh), tell); !done)
    return failed(done.error());
  std::cout << "master key " << old << " is replaced by "
            << kept->seals->master_id() << "\n";
  return exit_ok;
}

// -- create -------------------------------------------------------------------

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

int create(settings_options& from, const key_options& how) {
  store_options options;
  auto kept = open_kept(from, options);
  if (!kept)
    return failed(kept.error());
  auto scopes = scopes_from(how.scopes);
  auto made = make_api_key(default_organization(), how.name, scopes);
  auto id = made.record.id.str();
  author by{default_organization(), default_user()};
  auto put = kept->catalog->apply(by, put_key{std::move(made.record)}, now());
  if (!put)
    return failed(put.error());
  // Shown once, never kept: this is where it leaves us.
  if (!how.as_json) {
    std::cout << made.text.reveal() << "\n";
    std::cerr << "this is " << id << "; it is not shown again\n";
    return exit_ok;
  }
  json::object o;
  o["id"] = id;
  o["key"] = made.text.reveal();
  std::cout << json::to_text(o) << "\n";
  return exit_ok;
}

} // namespace

void add_key_command(CLI::App& app, invocation& call) {
  auto how = std::make_shared<key_options>();
  auto key = app.add_subcommand("key", "Make API keys, change the master key");

  auto made = key->add_subcommand(
    "create", "Make an API key and print it once; the engine must not run");
  made->add_option("name", how->name, "For people")->required();
  made->add_option("--scope", how->scopes, "run, config or admin; several")
    ->delimiter(',')
    ->check(CLI::IsMember({"run", "config", "admin"}));
  made->add_flag("--json", how->as_json, "For programs");
  auto create_from = add_settings_options(*made);
  call.on(made, [how, create_from] { return create(*create_from, *how); });

  auto rotated = key->add_subcommand(
    "rotate-master", "Wrap every secret's key anew; the engine must not run");
  auto rotate_from = add_settings_options(*rotated);
  call.on(rotated, [rotate_from] { return rotate_master(*rotate_from); });
}

} // namespace troupe
