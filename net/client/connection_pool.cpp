#include "net/client/connection_pool.hpp"

namespace troupe::net {

client_connection_ptr connection_pool::take(const key& host,
                                            clock::time_point since) {
  auto found = hosts_.find(host);
  while (found != hosts_.end() && !found->second.idle.empty()) {
    auto one = found->second.idle.front();
    found->second.idle.pop_front();
    auto link = pull(one);
    if (link->idle_since > since && link->usable())
      return link;
    link->close();
    let_go(host);
    found = hosts_.find(host); // it may have been the last one
  }
  return nullptr;
}

bool connection_pool::reserve(const key& host) {
  auto& state = hosts_[host];
  counters_.hosts = hosts_.size();
  if (state.open >= bounds_.per_host)
    return false;
  ++state.open;
  return true;
}

void connection_pool::keep(const key& host, client_connection_ptr link) {
  link->idle_since = clock::now();
  line_.push_front({host, std::move(link)});
  hosts_[host].idle.push_front(line_.begin());
  counters_.connections_idle = line_.size();
  if (line_.size() > bounds_.idle)
    close_oldest();
}

void connection_pool::let_go(const key& host) {
  auto found = hosts_.find(host);
  if (--found->second.open == 0)
    hosts_.erase(found);
  counters_.hosts = hosts_.size();
}

std::optional<connection_pool::clock::time_point>
connection_pool::oldest() const {
  if (line_.empty())
    return {};
  return line_.back().link->idle_since;
}

void connection_pool::close_unused_since(clock::time_point since) {
  while (!line_.empty() && line_.back().link->idle_since <= since)
    close_oldest();
}

client_connection_ptr connection_pool::pull(line::iterator one) {
  auto link = std::move(one->link);
  line_.erase(one);
  counters_.connections_idle = line_.size();
  return link;
}

/// It is the oldest one of its host as well.
void connection_pool::close_oldest() {
  auto host = line_.back().host;
  hosts_[host].idle.pop_back();
  pull(std::prev(line_.end()))->close();
  let_go(host);
}

} // namespace troupe::net
