#include "net/server/server_state.hpp"

#include <boost/asio/ssl/context.hpp>

#include <algorithm>
#include <thread>

namespace troupe::net {

namespace {

// Half of the cores, so that reading leaves room for what was read.
unsigned readers_of_bodies() {
  return std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u);
}

} // namespace

server_state::server_state(engine& core, server_options o)
    : core{core}, options{std::move(o)}, readers{readers_of_bodies(),
                                                 options.large_bodies} {}

bool per_address_limit::enter(const boost::asio::ip::address& who,
                              std::size_t limit) {
  std::lock_guard lock{mutex_};
  auto& count = counts_[who];
  if (limit != 0 && count >= limit)
    return false;
  ++count;
  return true;
}

void per_address_limit::leave(const boost::asio::ip::address& who) {
  std::lock_guard lock{mutex_};
  auto i = counts_.find(who);
  if (i != counts_.end() && --i->second == 0)
    counts_.erase(i);
}

std::shared_ptr<boost::asio::ssl::context> server_state::tls() const {
  std::lock_guard lock{mutex_};
  return tls_;
}

void server_state::tls(std::shared_ptr<boost::asio::ssl::context> fresh) {
  std::lock_guard lock{mutex_};
  tls_ = std::move(fresh);
}

void server_state::finished_one() {
  if (in_flight.fetch_sub(1) == 1 && draining.load()) {
    std::lock_guard lock{mutex_};
    quiet_.notify_all();
  }
}

bool server_state::wait_until_quiet(std::chrono::milliseconds time) {
  std::unique_lock lock{mutex_};
  return quiet_.wait_for(lock, time, [this] { return in_flight.load() == 0; });
}

} // namespace troupe::net
