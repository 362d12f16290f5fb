#pragma once

#include "runtime/settings/settings.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe {

/// Where a setting lives. The type of the member is the type of the setting:
/// bool: true or false; uint32: a count; uint64: a size in bytes; double: a
/// number; milliseconds: a duration; texts: a list.
using setting_slot
  = std::variant<bool*, std::uint32_t*, std::uint64_t*, double*,
                 std::chrono::milliseconds*, std::string*, secret*,
                 std::vector<std::string>*>;

/// What a text must look like, or each text of a list.
enum class text_form : std::uint8_t {
  any,
  address,
  url,
  host,
  host_rule, // an entry of a network policy
  variable,  // a name in the environment
  path,
  choice
};

/// A foreign name for a setting in the environment.
struct setting_alias {
  std::string_view name;
  bool seconds = false;         // a bare number means seconds
  std::string_view suffix = {}; // appended to the value
};

/// Everything there is to know about one setting: parsing, `config show`, the
/// help texts and the config.ini of the repository all follow from it.
struct setting_key {
  std::string_view group;
  std::string_view name;
  setting_slot (*slot)(settings&);
  std::string_view help; // one sentence
  double min = 0;        // counts, numbers, bytes, milliseconds
  double max = std::numeric_limits<std::uint32_t>::max();
  text_form form = text_form::any;
  std::string_view choices = {}; // "text|json|auto"
  std::vector<setting_alias> aliases = {};
  bool is_count = false; // a uint64 that counts things instead of bytes

  bool is_secret() const;
  /// "http.listen"
  std::string path() const;
  /// "TROUPE_HTTP_LISTEN"
  std::string variable() const;
  /// "a duration from 1s to 1h", for complaints and for the help.
  std::string expects() const;
};

/// One group of config.ini.
struct setting_group {
  std::string_view name;
  std::string_view help;
};

std::span<const setting_group> setting_groups();
/// All keys, those of one group next to each other, in the order of the groups.
const std::vector<setting_key>& setting_keys();
const setting_key* find_setting(std::string_view group, std::string_view name);
/// The same by "group.name".
const setting_key* find_setting(std::string_view path);
/// The path nearest to a misspelt one, or "".
std::string nearest_setting(std::string_view path);

} // namespace troupe
