#pragma once

#include "actors/expiring_map.hpp"
#include "runtime/schema_deriver.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// Derived schemas by the hash of their source: each source is read once, also
/// when many ask at a time. What is wrong with a source is remembered as well;
/// what was wrong with us is not. Thread-safe.
class schema_desk : public std::enable_shared_from_this<schema_desk> {
public:
  /// `who` may be null: then every question is `unavailable`.
  explicit schema_desk(std::shared_ptr<schema_deriver> who);

  void derive(language lang, std::string source, std::string function,
              handler<derived_schema> done);

private:
  using outcome = std::shared_ptr<const result<derived_schema>>;
  void answered(const std::string& key, result<derived_schema> what);

  const std::shared_ptr<schema_deriver> who_;
  std::mutex mutex_;
  expiring_map<std::string, outcome> known_;
  std::map<std::string, std::vector<handler<derived_schema>>> asking_;
};

} // namespace troupe
