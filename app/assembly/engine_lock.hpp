#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Keeps a data directory for one engine, and says in its file which one: the
/// process, and where it serves. Released by the kernel with the process.
class engine_lock {
public:
  engine_lock() = default;
  /// `conflict` with what the other one wrote if there is one.
  static result<engine_lock> take(const std::filesystem::path& data_directory);

  /// Writes down where the engine serves.
  void serves(const std::vector<std::string>& urls) const;

private:
  unique_fd file_;
};

/// The engine that has the directory: "an engine (pid 123) at http://...".
/// Nothing if none has.
std::optional<std::string>
engine_using(const std::filesystem::path& data_directory);

} // namespace troupe
