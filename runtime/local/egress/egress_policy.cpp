#include "runtime/local/egress/egress_policy.hpp"

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

judge::judge(const network_policy& policy, const broker_options& options,
             told of_each)
    : mode_{policy.mode}, patterns_{patterns(policy)}, options_{options},
      told_{std::move(of_each)} {}

std::string_view judge::closed(const ip_address& a) const {
  const bool ordinary = std::ranges::any_of(
    options_.ordinary, [&](const auto& n) { return n.contains(a); });
  return ordinary ? "" : options_.closed(a);
}

judge::verdict judge::consider(ip_address a, std::uint16_t port,
                               clock::time_point now) {
  a = unmapped(a);
  auto names = names_of(a, now);
  auto why_closed = closed(a);
  for (auto& p : patterns_)
    if (covers(p, a, port, names, why_closed.empty()))
      return {true, ""};
  if (mode_ == network_mode::off)
    return {false, "the network is off"};
  if (!why_closed.empty())
    return {false, std::string{why_closed}};
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
  if (std::exchange(has_refused_socket_, true))
    return;
  const auto& most = options_.of_a_run;
  broker::report one;
  one.events.push_back(
    {"socket", false,
     "more than " + std::to_string(most.sockets_at_once) + " and then "
       + std::to_string(most.sockets_per_second) + " a second"});
  add(std::move(one));
}

void judge::record(std::string target, const verdict& v, bool by_policy) {
  broker::report one;
  if (by_policy && !v.allowed && !report_.denied)
    one.denied = {target, false, v.reason};
  // The same decision again says nothing new, however often a tool tries.
  if (seen_.count({target, v.allowed}) == 0) {
    if (seen_.size() >= options_.events) {
      one.dropped = 1;
    } else {
      seen_.emplace(target, v.allowed);
      one.events.push_back({std::move(target), v.allowed, v.reason});
    }
  }
  if (!one.events.empty() || one.denied || one.dropped != 0)
    add(std::move(one));
}

void judge::add(broker::report one) {
  if (told_)
    told_(one);
  report_.dropped += one.dropped;
  if (one.denied)
    report_.denied = std::move(one.denied);
  for (auto& event : one.events)
    report_.events.push_back(std::move(event));
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

} // namespace troupe::network
