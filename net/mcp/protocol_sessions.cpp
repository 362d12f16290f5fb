#include "net/mcp/protocol_sessions.hpp"

#include "net/mcp/request_call.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/random.hpp"

#include <algorithm>
#include <array>

namespace troupe::net::mcp {

void protocol_session::begins(const std::string& request,
                              std::weak_ptr<request_call> call) {
  std::lock_guard lock{mutex_};
  running_[request] = std::move(call);
}

void protocol_session::ended(const std::string& request) {
  std::lock_guard lock{mutex_};
  running_.erase(request);
}

void protocol_session::cancel(const std::string& request) {
  std::shared_ptr<request_call> found;
  {
    std::lock_guard lock{mutex_};
    const auto i = running_.find(request);
    if (i == running_.end())
      return;
    found = i->second.lock();
    running_.erase(i);
  }
  if (found)
    found->cancel();
}

protocol_session_ptr protocol_sessions::open(std::string version,
                                             const caller& who) {
  std::array<std::uint8_t, 16> bytes;
  random_bytes(bytes);
  auto made = std::make_shared<protocol_session>("mcps_" + hex(bytes),
                                                 std::move(version), who);
  std::lock_guard lock{mutex_};
  if (all_.size() >= most_)
    drop_idle();
  all_[made->id()] = {made, clock::now()};
  return made;
}

/// Those whose time is over, and at least the one that was used first.
void protocol_sessions::drop_idle() {
  const auto since = clock::now() - idle_;
  std::erase_if(all_,
                [&](const auto& each) { return each.second.used < since; });
  if (all_.size() < most_)
    return;
  all_.erase(std::min_element(all_.begin(), all_.end(),
                              [](const auto& a, const auto& b) {
                                return a.second.used < b.second.used;
                              }));
}

protocol_session_ptr protocol_sessions::find(std::string_view id,
                                             const caller& who) {
  std::lock_guard lock{mutex_};
  const auto found = all_.find(id);
  if (found == all_.end() || !found->second.session->is_of(who))
    return nullptr;
  const auto now = clock::now();
  if (found->second.used < now - idle_) {
    all_.erase(found);
    return nullptr;
  }
  found->second.used = now;
  return found->second.session;
}

bool protocol_sessions::close(std::string_view id, const caller& who) {
  std::lock_guard lock{mutex_};
  const auto found = all_.find(id);
  if (found == all_.end() || !found->second.session->is_of(who))
    return false;
  all_.erase(found);
  return true;
}

} // namespace troupe::net::mcp
