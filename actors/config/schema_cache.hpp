#pragma once

#include "actors/context/engine_options.hpp"
#include "actors/state/admission.hpp"
#include "actors/state/expiring_map.hpp"
#include "runtime/engine/schema_deriver.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

/// Derived schemas by the hash of their source: each source is read once, also
/// when many ask at a time. What is wrong with a source is remembered as well;
/// what was wrong with us is not. An organization reads few at a time, a
/// bounded number waits, and further ones are `exhausted`. Thread-safe.
class schema_cache : public std::enable_shared_from_this<schema_cache> {
public:
  /// A reading takes a place among the runs of its organization.
  struct places {
    std::function<bool(admission::ticket&, const organization_id&)> take;
    std::function<void(admission::ticket&)> give_back;
  };

  /// `who` may be null: then every request is `unavailable`.
  explicit schema_cache(std::shared_ptr<schema_deriver> who,
                        derivation_rules rules = {}, places among_runs = {});

  void derive(const organization_id& organization, language lang,
              std::string source, std::string function,
              handler<derived_schema> done);

private:
  using outcome = std::shared_ptr<const result<derived_schema>>;

  /// A source that is being read, or waits for it.
  struct reading {
    organization_id organization;
    std::string key;
    language lang{};
    std::string source;
    std::string function;
    admission::ticket ticket;
    std::vector<handler<derived_schema>> asking;
  };
  using reading_ptr = std::shared_ptr<reading>;

  struct line {
    std::uint32_t running = 0;
    std::deque<reading_ptr> waiting;
  };

  bool take_place(reading& r);
  void begin(const reading_ptr& r);
  void answered(const reading_ptr& r, result<derived_schema> what);
  std::vector<reading_ptr> next(const organization_id& organization,
                                std::vector<reading_ptr>& refused);

  const std::shared_ptr<schema_deriver> who_;
  const derivation_rules rules_;
  const places places_;
  std::mutex mutex_; // guards what follows
  expiring_map<std::string, outcome> known_;
  std::map<std::pair<organization_id, std::string>, reading_ptr>
    open_; // by key
  std::map<organization_id, line> lines_;
};

} // namespace troupe
