#pragma once

#include "runtime/base/error.hpp"
#include "runtime/settings/ini_parser.hpp"
#include "runtime/settings/key.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The groups of further accounts at providers while a config.ini is read:
/// [e2b.research] has the settings of [e2b] with their defaults, and nothing of
/// what [e2b] says.
class account_groups {
public:
  /// "e2b" of "e2b.research"; "": the group is not of that form.
  static std::string_view provider_of(std::string_view group);

  /// Where the settings of the group are written.
  settings& of(const std::string& group) { return groups_[group]; }

  /// Names every account and gives it the other settings of `all`.
  std::vector<field_error> finish(settings& all);

private:
  std::map<std::string, settings> groups_;
};

} // namespace troupe
