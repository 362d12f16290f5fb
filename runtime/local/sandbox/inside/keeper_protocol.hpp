#pragma once

#include "runtime/local/isolation/step.hpp"
#include "runtime/model/terminal_size.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the engine and the keeper of a sandbox say to each other over one
/// SOCK_SEQPACKET socketpair: a packet per message, descriptors beside it. Both
/// ends parse as if the other were foreign.
namespace troupe::inside {

inline constexpr std::size_t max_keeper_packet = 64u << 10;
inline constexpr int max_keeper_descriptors = 5;

/// Processes that the engine began, and hands, at a time.
inline constexpr std::size_t max_processes = 64;
inline constexpr std::size_t max_hands = 16;
inline constexpr std::size_t max_listed_ports = 1'024;

enum class keeper_word : std::uint8_t {
  // engine -> keeper
  // descriptors: launch block, in?, out, err, channel?; at a terminal: the
  // launch block alone
  exec = 1,
  signal, // to a process that was begun with `exec`, or to a hand
  hand,   // descriptor: its socket
  // keeper -> engine
  ready, // once, first
  begun, // the program was executed; descriptor: our end of its terminal
  ended, // exactly once for every `exec`
  // engine -> keeper, about the network inside
  connect, // to a port
  ports,   // that are listened on
  // keeper -> engine
  connected, // descriptor, if there is no error: a socket, perhaps on its way
  listening, // the ports
  listener,  // before `begun`; descriptor: of the command's filter
};

/// Whether the engine waits for this one, by its ticket.
constexpr bool is_answer(keeper_word what) {
  return what == keeper_word::connected || what == keeper_word::listening;
}

struct keeper_message {
  keeper_word what = keeper_word::ready;
  std::uint64_t ticket = 0; // of the engine's choosing; all but `ready`

  // exec
  bool has_input = false;   // else /dev/null
  bool has_channel = false; // at descriptor 3
  bool may_leave = false;   // the network: its calls are decided outside
  std::string cwd;          // inside
  std::optional<terminal_size> terminal;

  // signal; to the process and all that it started. SIGKILL waits until
  // nothing of that is left before `ended` is said.
  std::int32_t number = 0;

  std::int32_t pid = 0; // begun: inside

  // ended
  isolation::outcome failure; // not ok: it was never executed
  std::int32_t wait_status = 0;
  bool killed = false; // by a `signal`
  bool lost = false;   // its parent process was killed: how it ended is unknown
  std::uint64_t cpu_us = 0;

  std::uint16_t port = 0;           // connect; not 0
  std::int32_t error = 0;           // connected, listening: errno
  std::vector<std::uint16_t> ports; // listening; in order
};

std::string encode(const keeper_message& m);
/// False for anything that is not exactly one message.
bool decode(std::string_view packet, keeper_message& out);

} // namespace troupe::inside
