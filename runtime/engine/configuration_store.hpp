#pragma once

#include "runtime/base/snapshot.hpp"
#include "runtime/engine/catalog.hpp"
#include "runtime/engine/engine.hpp"

#include <string_view>

namespace troupe {

/// The configuration on its disk. Blocks; only the config actor writes. Reads
/// of values are thread-safe, since sealed bytes come from a snapshot.
class configuration_store {
public:
  virtual ~configuration_store() = default;
  /// As it is now, from the first call on. Thread-safe.
  virtual const snapshot<catalog>& current() const = 0;

  struct applied {
    change_reply reply;
    bool audited = false; // it changed something, and `audit` was kept
  };
  /// The change and its audit line, a JSON object's text, as a whole or not at
  /// all; on the disk and in `current` when it returns.
  virtual result<applied> apply(const caller& who, const catalog_change& what,
                                std::string_view audit)
    = 0;

  virtual result<secret> unseal(const sealed_variable& v) const = 0;
  virtual result<secret> unseal(const sealed_agent_variable& v) const = 0;
};

} // namespace troupe
