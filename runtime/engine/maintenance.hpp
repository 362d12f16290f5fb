#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace troupe {

struct backup_facts {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::uint32_t format = 0;
  std::string master_key; // the id of the one that opens it
};

struct master_key_change {
  std::string replaced;
  std::string by;
};

/// What an operator has done to everything that is kept, while runs go on. One
/// thing at a time: a second one is refused as a `conflict`. Thread-safe; no
/// call blocks; every handler is called.
class maintenance {
public:
  virtual ~maintenance() = default;

  /// Into a directory of this machine that does not exist yet.
  virtual void back_up(std::filesystem::path directory,
                       std::function<void(result<backup_facts>)> done)
    = 0;
  /// Wraps every organization's key anew: with a key that lies beside the one
  /// in use, else with a new one. Goes on where an earlier attempt ended.
  virtual void
  rotate_master(std::function<void(result<master_key_change>)> done)
    = 0;
};

} // namespace troupe
