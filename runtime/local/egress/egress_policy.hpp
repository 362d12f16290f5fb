#pragma once

#include "runtime/local/egress/broker.hpp"
#include "runtime/model/host_pattern.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace troupe::network {

/// What a run may reach, which names led to which addresses, and what was
/// decided. No I/O, no clock of its own. Used by one thread.
class judge {
public:
  using clock = std::chrono::steady_clock;
  /// What a decision adds to the report.
  using told = std::function<void(const broker::report&)>;

  judge(const network_policy& policy, const broker_options& options,
        told of_each = {});

  struct verdict {
    bool allowed = false;
    std::string reason;
  };

  /// About a connection or a datagram. A version 4 address inside a version 6
  /// one is judged as what it is. Recorded.
  verdict address(ip_address a, std::uint16_t port, clock::time_point now);
  /// The same without a record: for calls that send nothing.
  verdict consider(ip_address a, std::uint16_t port, clock::time_point now);
  /// About looking a name up. Only refusals are recorded: what comes of a
  /// lookup is judged when it is connected to.
  verdict name(const std::string& normalized);
  /// Something that no policy allows, such as listening.
  void refuse(std::string target, std::string reason);
  /// It has had all the sockets that a run may have. Recorded once, whatever
  /// else was: a tool that gets here has often filled the record before.
  void refuse_socket();

  void learn(const std::string& name, const ip_address& a,
             std::chrono::seconds ttl, clock::time_point now);

  /// What names led to, for another policy of the same run.
  void learn_from(const judge& other) {
    known_ = other.known_;
    known_count_ = other.known_count_;
  }

  const broker::report& decided() const { return report_; }

private:
  std::string_view closed(const ip_address& a) const;
  void add(broker::report one);
  std::set<std::string> names_of(const ip_address& a, clock::time_point now);
  void record(std::string target, const verdict& v, bool by_policy = true);
  void make_room(clock::time_point now);

  network_mode mode_;
  std::vector<host_pattern> patterns_;
  broker_options options_;
  /// By address, then by name: until when the name counts.
  std::map<ip_address, std::map<std::string, clock::time_point>> known_;
  std::size_t known_count_ = 0;
  told told_;
  bool has_refused_socket_ = false;
  broker::report report_;
  std::set<std::pair<std::string, bool>> seen_; // of report_.events
};

/// ::ffff:1.2.3.4 as 1.2.3.4; anything else as it is.
ip_address unmapped(const ip_address& a);

} // namespace troupe::network
