#include "storage/maintenance/backup.hpp"

#include "app/assembly/options_from_settings.hpp"
#include "app/cli/api_client.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/settings_options.hpp"
#include "app/cli/status_line.hpp"
#include "app/cli/table.hpp"
#include "storage/database/database.hpp"

#include <iostream>
#include <memory>

namespace troupe {

namespace {

void say_of_key(const std::string& master_key) {
  if (!master_key.empty())
    std::cout << "its secrets can only be decrypted with master key "
              << master_key
              << ", which is not included: store that key elsewhere\n";
}

struct backup_words {
  std::shared_ptr<settings_options> from;
  std::string directory;
  bool as_json = false;
};

struct create_words {
  std::string directory;
  bool as_json = false;
};

/// By the engine, which has the store: the directory is one of its machine.
result<int> back_up(const create_words& said, api_client& engine) {
  engine.act_as_operator();
  json::object body;
  body["directory"] = std::filesystem::absolute(said.directory).string();
  status_line progress;
  progress.show("copying the data ...");
  auto made
    = engine.call(api_client::verb::post, "/v1/maintenance/backups", body);
  progress.clear();
  if (!made)
    return made.error();
  if (said.as_json) {
    std::cout << json::to_text(*made) << "\n";
    return int{exit_ok};
  }
  std::cout << said.directory << ": backup of " << cell(*made, "files")
            << " files, " << cell(*made, "bytes") << " bytes\n";
  say_of_key(cell(*made, "master_key_id"));
  return int{exit_ok};
}

int say(const backup_words& said, std::string_view done,
        const backup_summary& what) {
  if (said.as_json) {
    json::object o;
    o["files"] = what.files;
    o["bytes"] = what.bytes;
    o["format"] = what.format;
    o["master_key_id"] = what.master_key;
    std::cout << json::to_text(o) << "\n";
    return exit_ok;
  }
  std::cout << said.directory << " " << done << ": " << what.files << " files, "
            << what.bytes << " bytes\n";
  say_of_key(what.master_key);
  return exit_ok;
}

result<std::filesystem::path> store_of(const backup_words& said) {
  auto loaded = said.from->load();
  if (!loaded)
    return loaded.error();
  return store_directory(store_options_from(loaded->values));
}

int check(const backup_words& said) {
  status_line progress;
  progress.show("reads " + said.directory + " ...");
  auto fine = verify_backup(said.directory);
  progress.clear();
  return fine ? say(said, "is whole", *fine) : print_api_error(fine.error());
}

int restore(const backup_words& said) {
  auto store = store_of(said);
  if (!store)
    return print_api_error(store.error());
  status_line progress;
  progress.show("copies " + said.directory + " ...");
  auto done = restore_backup(said.directory, *store);
  progress.clear();
  return done ? say(said, "is restored to " + store->string(), *done)
              : print_api_error(done.error());
}

void add(CLI::App* cmd, invocation& call, const char* help,
         int (*todo)(const backup_words&)) {
  auto said = std::make_shared<backup_words>();
  cmd->add_option("DIRECTORY", said->directory, help)->required();
  cmd->add_flag("--json", said->as_json, "Print JSON");
  said->from = add_settings_options(*cmd);
  call.on(cmd, [said, todo] { return todo(*said); });
}

} // namespace

void add_backup_command(CLI::App& app, invocation& call) {
  auto group = app.add_subcommand("backup", "Create and verify backups");
  auto [create, said] = add_session_command(
    group, call, "create", "Create a backup while the engine is running",
    back_up);
  create
    ->add_option("DIRECTORY", said->directory,
                 "New directory on the engine's machine")
    ->required();
  add(group->add_subcommand("verify", "Read a backup in full and verify it"),
      call, "The backup", check);
  add(app.add_subcommand("restore",
                         "Restore a backup into an empty data directory"),
      call, "The backup", restore);
}

} // namespace troupe
