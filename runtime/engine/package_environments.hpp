#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/package_requirement.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class environment_state : std::uint8_t { building, ready, failed };

/// One set of packages for local runs, as its owner sees it.
struct environment_record {
  std::string fingerprint;
  environment_state state = environment_state::building;
  std::vector<std::string> packages; // ready: what is really in it
  std::uint64_t bytes = 0;           // ready: on disk
  std::optional<timestamp> built_at;
  std::optional<timestamp> used_at;
  std::string progress;                 // building: the installer's last line
  std::shared_ptr<const error> failure; // failed: why
};

struct environment_request {
  std::vector<pip_requirement> pip;
  std::vector<npm_requirement> npm;
  bool afresh = false; // build it even if it is there
};

/// Called on any thread, `finished` exactly once and last. Quick.
struct environment_watch {
  std::function<void(std::string_view line)> progress;
  std::function<void(const environment_record&)> finished;
};

/// The environments of this machine, as the front doors see them.
/// Thread-safe; no call blocks.
class environments {
public:
  virtual ~environments() = default;
  /// Builds, or joins the build that is under way, or finds it ready. The
  /// fingerprint is known at once.
  virtual std::string build(const organization_id& organization,
                            environment_request wish, environment_watch watch)
    = 0;
  /// Follows a build; one that is over is told at once.
  virtual result<void> watch(const organization_id& organization,
                             const std::string& fingerprint,
                             environment_watch watch)
    = 0;
  virtual std::optional<environment_record>
  find(const organization_id& organization,
       const std::string& fingerprint) const = 0;
  /// By fingerprint.
  virtual std::vector<environment_record>
  list(const organization_id& organization) const = 0;
  /// A conflict while it is being built or runs use it.
  virtual void remove(const organization_id& organization,
                      const std::string& fingerprint,
                      std::function<void(result<void>)> done)
    = 0;
};

} // namespace troupe
