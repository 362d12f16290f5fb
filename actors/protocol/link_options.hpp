#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace troupe {

class watchdog;

/// The identity of a node, as PEM files. All three or nothing: a link that
/// verifies one side only is no link.
struct link_identity {
  std::string certificate; // the node's own, with what leads to the authority
  std::string key;         // the private key that belongs to it
  std::string authority;   // the only CA that is trusted
};

/// How links show that the other side is there, also where its kernel answers
/// for a process that is stopped.
struct link_heartbeats {
  std::chrono::milliseconds every{5'000};
  std::chrono::milliseconds silence{20'000}; // then it counts as gone
};

/// A request with its source and arguments fits; beyond it is an attack, or
/// should be a file.
inline constexpr std::uint64_t largest_request_frame = 16u << 20; // bytes

/// A result and its output fit, also when every byte of them is escaped.
inline constexpr std::uint64_t largest_answer_frame = 64u << 20; // bytes

/// Where platforms and other nodes reach us.
struct link_options {
  std::string listen; // host:port; port 0: any
  link_identity identity;
  /// Each may hold a frame of 16 MiB in memory.
  std::uint32_t max_links = 64;
  /// Unauthenticated peers; each has two seconds for its handshake.
  std::uint32_t max_handshakes = 256;
  link_heartbeats beats{};
  watchdog* watch = nullptr; // of the thread; outlives the door
};

} // namespace troupe
