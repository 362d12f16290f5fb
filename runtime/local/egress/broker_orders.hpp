#pragma once

#include "runtime/local/egress/broker.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::network {

/// What the engine tells a broker: a packet each, in this order for a run.
struct broker_order {
  enum class word : std::uint8_t {
    open,   // once, first: the options
    serve,  // the next run, and its policy
    end,    // that run is over: nothing of it may wait
    change, // what is served goes on, by another number and policy
    listen, // descriptor: the listener of another filter of it
  };
  word what = word::end;
  broker_options options; // open
  std::uint32_t run = 0;  // serve, end
  network_policy policy;  // serve, change
};

/// A policy has 256 hosts of 260 bytes at the most.
inline constexpr std::size_t longest_order = 128u << 10;

std::string encode(const broker_order& order);
/// False for anything that is not exactly one order.
bool decode(std::string_view packet, broker_order& out);

/// One line of a broker's record, appended to `out`.
void append_decision(std::string& out, const network_event& event,
                     bool is_denial);
/// Everything that can be read of a record; nothing after the first line that
/// cannot.
broker::report read_record(std::string_view record);

} // namespace troupe::network
