#pragma once

#include "runtime/local/egress/broker_memory.hpp"
#include "runtime/model/ids.hpp"

#include <map>
#include <memory>

namespace troupe::network {

/// One account for each organization that has brokers.
class accounts {
public:
  result<std::shared_ptr<shared<account>>> of(const organization_id& who) {
    auto& known = known_[who];
    if (auto there = known.lock())
      return there;
    std::erase_if(known_, [&](const auto& entry) {
      return entry.second.expired() && entry.first != who;
    });
    auto made = shared<account>::make("troupe-account");
    if (made)
      known_[who] = *made;
    return made;
  }

private:
  std::map<organization_id, std::weak_ptr<shared<account>>> known_;
};

} // namespace troupe::network
