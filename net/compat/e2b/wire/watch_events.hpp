#pragma once

#include "runtime/engine/sandbox_files.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net::e2b_facade {

/// What happened below a folder, as clients are told it: names below that, a
/// move as two events, and a file that is uploaded as one that is written.
class watch_events {
public:
  /// `folder` without a slash at its end, but for "/".
  explicit watch_events(std::string folder);

  /// {"name":"a.txt","type":"EVENT_TYPE_CREATE"} for each that clients see.
  std::vector<std::string> told(const std::vector<file_event>& events);
  /// So much happened that not all of it was told.
  bool overflowed() const { return overflowed_; }

private:
  void tell(std::string_view type, const std::string& path);
  void tell_move(const file_event& e);

  std::string prefix_; // of paths, with the slash
  std::set<std::string> seen_;
  std::vector<std::string> out_;
  bool overflowed_ = false;
};

} // namespace troupe::net::e2b_facade
