#include "runtime/local/network/judge.hpp"

#include <algorithm>
#include <utility>

namespace troupe::network {

namespace {

// Programs keep answers longer than nameservers ask them to.
constexpr std::chrono::seconds shortest_memory{300};
constexpr std::chrono::seconds longest_memory{3600};

} // namespace

ip_address unmapped(const ip_address& a) {
  static constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0,    0,
                                                       0, 0, 0, 0, 0xff, 0xff};
  if (!a.v6 || !std::equal(prefix.begin(), prefix.end(), a.bytes.begin()))
    return a;
  ip_address v4;
  std::copy(a.bytes.begin() + 12, a.bytes.end(), v4.bytes.begin());
  return v4;
}

judge::judge(const network_policy& policy, const broker_options& options)
    : mode_{policy.mode}, patterns_{patterns(policy)}, options_{options} {}

judge::verdict judge::consider(ip_address a, std::uint16_t port,
                               clock::time_point now) {
  a = unmapped(a);
  auto names = names_of(a, now);
  auto closed = options_.closed(a);
  for (auto& p : patterns_)
    if (covers(p, a, port, names, closed.empty()))
      return {true, ""};
  if (mode_ == network_mode::off)
    return {false, "the network is off"};
  if (!closed.empty())
    return {false, std::string{closed}};
  return {false, "not on the list"};
}

judge::verdict judge::address(ip_address a, std::uint16_t port,
                              clock::time_point now) {
  auto v = consider(a, port, now);
  a = unmapped(a);
  auto names = names_of(a, now);
  auto target = to_string(a, port);
  if (!names.empty())
    target = *names.begin() + ":" + std::to_string(port) + " (" + target + ")";
  record(std::move(target), v);
  return v;
}

judge::verdict judge::name(const std::string& normalized) {
  bool covered = std::any_of(patterns_.begin(), patterns_.end(), [&](auto& p) {
    return covers_name(p, normalized);
  });
  verdict v{covered, covered ? "" : "name not on the list"};
  if (!v.allowed)
    record(normalized, v);
  return v;
}

void judge::refuse(std::string target, std::string reason) {
  record(std::move(target), {false, std::move(reason)}, false);
}

void judge::refuse_socket() {
  std::lock_guard lock{mutex_};
  if (std::exchange(has_refused_socket_, true))
    return;
  report_.events.push_back(
    {"socket", false,
     "more than " + std::to_string(options_.sockets_at_once) + " and then "
       + std::to_string(options_.sockets_per_second) + " a second"});
}

void judge::record(std::string target, const verdict& v, bool by_policy) {
  std::lock_guard lock{mutex_};
  if (by_policy && !v.allowed && !report_.denied)
    report_.denied = {target, false, v.reason};
  // The same decision again says nothing new, however often a tool tries.
  if (seen_.count({target, v.allowed}) != 0)
    return;
  if (seen_.size() >= options_.events) {
    ++report_.dropped;
    return;
  }
  seen_.emplace(target, v.allowed);
  report_.events.push_back({std::move(target), v.allowed, v.reason});
}

void judge::learn(const std::string& name, const ip_address& a,
                  std::chrono::seconds ttl, clock::time_point now) {
  if (known_count_ >= options_.names)
    make_room(now);
  auto until = now + std::clamp(ttl, shortest_memory, longest_memory);
  auto [i, is_new] = known_[a].insert_or_assign(name, until);
  known_count_ += is_new ? 1 : 0;
}

/// Forgets what is over; if nothing is, everything: the tool asks again.
void judge::make_room(clock::time_point now) {
  known_count_ = 0;
  for (auto i = known_.begin(); i != known_.end();) {
    std::erase_if(i->second, [&](auto& n) { return n.second < now; });
    known_count_ += i->second.size();
    i = i->second.empty() ? known_.erase(i) : std::next(i);
  }
  if (known_count_ < options_.names)
    return;
  known_.clear();
  known_count_ = 0;
}

std::set<std::string> judge::names_of(const ip_address& a,
                                      clock::time_point now) {
  std::set<std::string> names;
  if (auto i = known_.find(a); i != known_.end())
    for (auto& [name, until] : i->second)
      if (until >= now)
        names.insert(name);
  return names;
}

broker::report judge::decided() const {
  std::lock_guard lock{mutex_};
  return report_;
}

} // namespace troupe::network
