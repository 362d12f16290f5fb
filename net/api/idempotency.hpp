#pragma once

#include "net/api/api.hpp"
#include "net/server/exchange.hpp"
#include "runtime/answer_archive.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace troupe::net {

/// Remembers the answers to requests with an `Idempotency-Key`: the same key
/// with the same request gets the same answer, with another request 422, and
/// while the first one is under way 409. In memory, bounded in number, size
/// and time; behind that in the archive, over a restart as well. Runs are
/// remembered by the engine itself.
class answer_memory : public std::enable_shared_from_this<answer_memory> {
public:
  explicit answer_memory(const api_options& options);

  /// The handler behind this memory.
  route_handler remembering(route_handler next);

private:
  using clock = std::chrono::steady_clock;

  struct entry {
    std::string fingerprint;
    std::string ticket; // of the archive; "": it keeps nothing of this
    bool done = false;
    clock::time_point at{};
    int status = 0;
    std::string_view type;
    std::string body;
    std::vector<std::pair<std::string_view, std::string>> fields;
  };

  /// True when the request is new; else it has been answered.
  bool enter(exchange& ex, const std::string& key);
  void leave(const organization_id& who, const std::string& key,
             const response& r);
  void look_up(const exchange_ptr& ex, const std::string& key,
               const route_handler& next);
  void go_on(const exchange_ptr& ex, const std::string& key,
             const route_handler& next, archived_answer found);
  std::string fingerprint(const request& in) const;
  void forget_old();

  const std::size_t most_;
  const clock::duration keep_;
  const std::shared_ptr<answer_archive> archive_;
  const std::string salt_; // bodies hold secrets: no plain hash of them
  std::mutex mutex_;
  std::map<std::string, entry> entries_;
  std::deque<std::pair<clock::time_point, std::string>> order_;
};

} // namespace troupe::net
