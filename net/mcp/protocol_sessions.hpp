#pragma once

#include "net/mcp/mcp.hpp"
#include "runtime/engine/engine.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::net::mcp {

class request_call;

/// A session of the protocol's legacy form. It is no session of a sandbox:
/// clients open and drop these as they like.
class protocol_session {
public:
  protocol_session(std::string id, std::string version, const caller& who)
      : id_{std::move(id)}, version_{std::move(version)},
        organization_{who.organization}, key_{who.key} {}

  const std::string& id() const { return id_; }
  const std::string& version() const { return version_; }
  bool is_of(const caller& who) const {
    return organization_ == who.organization && key_ == who.key;
  }

  /// A request that can be cancelled by its id, until it is answered.
  void begins(const std::string& request, std::weak_ptr<request_call> call);
  void ended(const std::string& request);
  void cancel(const std::string& request);

  /// One stream of changes at a time.
  bool take_stream() { return !has_stream_.exchange(true); }
  void give_stream_back() { has_stream_ = false; }

private:
  const std::string id_;
  const std::string version_;
  const organization_id organization_;
  const key_id key_;
  std::atomic<bool> has_stream_{false};
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<request_call>> running_;
};
using protocol_session_ptr = std::shared_ptr<protocol_session>;

/// All of them, in memory. Thread-safe.
class protocol_sessions {
public:
  protocol_sessions(std::size_t most, std::chrono::minutes idle)
      : most_{most}, idle_{idle} {}

  protocol_session_ptr open(std::string version, const caller& who);
  /// Null: there is none, or it is another caller's.
  protocol_session_ptr find(std::string_view id, const caller& who);
  bool close(std::string_view id, const caller& who);

private:
  using clock = std::chrono::steady_clock;
  struct entry {
    protocol_session_ptr session;
    clock::time_point used;
  };
  void drop_idle();

  const std::size_t most_;
  const std::chrono::minutes idle_;
  std::mutex mutex_;
  std::map<std::string, entry, std::less<>> all_;
};

} // namespace troupe::net::mcp
