#pragma once

#include "net/api/shared/api_options.hpp"
#include "net/server/exchange.hpp"
#include "runtime/engine/response_store.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::net {

/// The request's Idempotency-Key, "" without one. Answers the exchange itself
/// when it is malformed.
std::optional<std::string> idempotency_key_of(exchange& ex);

/// 422: the key was used for another request.
void refuse_reused_key(exchange& ex);

/// Says that an answer was given before.
void mark_replayed(response& r);

/// What an answer shows that must not be shown again.
enum class answer_holds : std::uint8_t { nothing_secret, a_secret };

/// Remembers the answers to requests with an `Idempotency-Key`: the same key
/// with the same request gets the same answer, with another request 422, and
/// while the first one is under way 409. In memory, bounded in number, size
/// and time; behind that in the archive, over a restart as well. Of an answer
/// with a secret it remembers only its location: a repeated request gets 409.
/// Runs are remembered by the engine itself.
class idempotency_cache
    : public std::enable_shared_from_this<idempotency_cache> {
public:
  explicit idempotency_cache(const api_options& options);

  /// The handler behind this memory.
  route_handler remembering(route_handler next,
                            answer_holds holds = answer_holds::nothing_secret);

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

  enum class verdict { fresh, other, under_way, answered };

  verdict begin(const request& in, const std::string& key, response& again);
  void store_response(const organization_id& who, const std::string& key,
                      const response& r);
  void forget(const std::string& key);
  void look_up(const exchange_ptr& ex, const std::string& key,
               const route_handler& next);
  void resume(const exchange_ptr& ex, const std::string& key,
              const route_handler& next, archived_answer found);
  std::string fingerprint(const request& in) const;
  void evict_expired();

  const std::size_t most_;
  const clock::duration keep_;
  const std::shared_ptr<response_store> archive_;
  const std::string salt_; // bodies hold secrets: no plain hash of them
  std::mutex mutex_;
  std::map<std::string, entry> entries_;
  std::deque<std::pair<clock::time_point, std::string>> order_;
};

using memory_ptr = std::shared_ptr<idempotency_cache>;

} // namespace troupe::net
