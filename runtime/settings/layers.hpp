#pragma once

#include "runtime/base/error.hpp"
#include "runtime/settings/accounts.hpp"
#include "runtime/settings/ini_parser.hpp"
#include "runtime/settings/key.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class origin_kind : std::uint8_t {
  standard,
  file,
  environment,
  flag,
  program
};

/// Where a value came from: "config.ini:12", "E2B_API_KEY", "--listen".
struct setting_origin {
  origin_kind kind = origin_kind::standard;
  std::string where = "default";
};

/// Settings that were read, checked and explained.
struct configuration {
  settings values;
  std::map<std::string, setting_origin> origins; // by path; absent: default
  std::vector<std::string> warnings;             // worth a line in the log
  std::string file;                              // "": none was read
  bool file_is_open = false; // every user of this machine may read or change it

  setting_origin origin_of(const setting_key& key) const;
};

/// Variables of a process.
using process_environment = std::map<std::string, std::string, std::less<>>;
/// Ours, as far as they are about settings: the others stay where they are.
process_environment own_environment();

/// Lays file, environment and flags over the defaults, in this order, each
/// winning over the ones before. Every complaint is kept, so that an operator
/// sees all of them at once.
class settings_layers {
public:
  void file(std::string name, const std::vector<file_entry>& entries,
            bool open_to_all = false);
  /// TROUPE_<GROUP>_<KEY>, then the aliases. An empty value says nothing. A
  /// secret may stand in a file instead: TROUPE_<GROUP>_<KEY>_FILE.
  void environment(const process_environment& variables);
  /// `name` is what the user wrote: "--listen".
  void flag(std::string_view path, std::string_view text, std::string name);
  /// What a program says that has the engine inside; secrets as well.
  void program(std::string_view path, std::string_view text);
  /// A complaint from elsewhere: a syntax error, a key that stands twice.
  void complain(std::string where, std::string reason, std::string hint = {});

  /// All complaints as one error, or the settings.
  result<configuration> finish() &&;

private:
  /// `prefix`: of the nearest name, as it would stand there.
  void complain_of_unknown(std::string where, std::string_view path,
                           std::string_view prefix = {});
  void from_file(const file_entry& entry);
  /// Of another account at a provider.
  void from_account(const file_entry& entry, std::string_view provider);
  void from_environment(const setting_key& key,
                        const process_environment& variables);
  void warn_of_unknown(const process_environment& variables);
  void from_secret_file(const setting_key& key, const std::string& variable,
                        const std::string& path);
  void store(const setting_key& key, std::string_view text,
             setting_origin origin);
  void refuse(const setting_key& key, const std::string& where,
              std::string_view text, const error& why);
  std::string place(const file_entry& entry) const;

  configuration done_;
  account_groups accounts_;
  std::vector<field_error> complaints_;
};

/// Whether the value came from one of Letta's or the providers' names.
bool came_from_alias(const configuration& c, const setting_key& key);

/// What no single value can tell: settles what follows from others, and
/// returns what cannot be together.
std::vector<field_error> settle(configuration& c);

/// A default above its ceiling, half a pair. Names settings by their path.
std::vector<field_error> contradictions(const settings& s);

} // namespace troupe
