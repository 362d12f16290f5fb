#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <string>
#include <vector>

namespace troupe {

/// A sandbox at a provider that we answer for. Written before it is created
/// (its name there unknown as yet), so that no crash leaves one running that
/// has no record; the tag finds it again.
struct sandbox_lease {
  std::string tag; // ours, random, attached to the sandbox as a label
  backend_name provider = backend_kind::e2b;
  organization_id organization;
  run_id run;
  std::string sandbox; // the provider's id, "" until confirmed
  std::string key{};   // of the runs that may share it; "": that one only
  timestamp written_at{};
};

/// Where leases are kept. Durable in the engine, in memory in tests.
/// Thread-safe.
class lease_book {
public:
  virtual ~lease_book() = default;
  virtual result<void> write(const sandbox_lease& lease) = 0;
  virtual result<void> confirm(const std::string& tag,
                               const std::string& sandbox)
    = 0;
  virtual result<void> release(const std::string& tag) = 0;
  virtual std::vector<sandbox_lease> list(backend_name provider) const = 0;
};

} // namespace troupe
