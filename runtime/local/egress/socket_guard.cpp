#include "runtime/local/egress/socket_guard.hpp"

#include "runtime/base/unique_fd.hpp"

#include <sys/socket.h>

namespace troupe::network {

namespace {

// Where Linux lets a socket's filter see the IP header, whatever the layer
// that the packet has reached (SKF_NET_OFF).
constexpr unsigned ip_header = static_cast<unsigned>(SKF_NET_OFF);
constexpr unsigned v4_source = ip_header + 12;
constexpr unsigned v6_source = ip_header + 8;
constexpr unsigned device = static_cast<unsigned>(SKF_AD_OFF) + SKF_AD_IFINDEX;
constexpr unsigned loopback_device = 1; // in every network namespace
// Without it: the transport header.
constexpr unsigned source_port = 0;
constexpr unsigned tcp_flags = 13;
constexpr unsigned syn = 0x02, ack = 0x10;

constexpr unsigned whole_packet = 0xffffffff;
constexpr std::size_t most_instructions = 4096; // the kernel's BPF_MAXINSNS

sock_filter load_word(unsigned at) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
}
sock_filter load_half(unsigned at) {
  return BPF_STMT(BPF_LD | BPF_H | BPF_ABS, at);
}
sock_filter load_byte(unsigned at) {
  return BPF_STMT(BPF_LD | BPF_B | BPF_ABS, at);
}
sock_filter mask(unsigned bits) {
  return BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits);
}
sock_filter pass(unsigned verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}
/// Goes on if equal, else skips so many.
sock_filter unless_equal(unsigned value, unsigned char skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

unsigned word_of(const ip_address& a, std::size_t i) {
  auto& b = a.bytes;
  return unsigned{b[4 * i]} << 24 | unsigned{b[4 * i + 1]} << 16
    | unsigned{b[4 * i + 2]} << 8 | b[4 * i + 3];
}

/// "If the source lies in `n`, the verdict is this."
void emit(std::vector<sock_filter>& out, const ip_network& n, unsigned source,
          unsigned verdict) {
  struct part {
    unsigned at, bits, value;
  };
  std::vector<part> parts;
  for (std::size_t i = 0, left = n.length; left > 0; ++i) {
    auto bits = left >= 32 ? 32 : left;
    auto ones = bits == 32 ? ~0u : ~(~0u >> bits);
    parts.push_back(
      {source + static_cast<unsigned>(4 * i), ones, word_of(n.base, i) & ones});
    left -= bits;
  }
  // Every comparison but the last skips the rest of this rule.
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.push_back(load_word(parts[i].at));
    out.push_back(mask(parts[i].bits));
    auto behind = 3 * (parts.size() - 1 - i) + 1;
    out.push_back(
      unless_equal(parts[i].value, static_cast<unsigned char>(behind)));
  }
  out.push_back(pass(verdict));
}

void emit_version(std::vector<sock_filter>& out,
                  const std::vector<host_pattern>& allowed, bool v6) {
  auto source = v6 ? v6_source : v4_source;
  for (auto& p : allowed)
    if (p.what == host_pattern::kind::network && p.network.base.v6 == v6
        && is_closed(p.network))
      emit(out, p.network, source, whole_packet);
  for (auto& n : closed_networks())
    if (n.base.v6 == v6)
      emit(out, n, source, 0);
  // Whatever address of its own the host sends to itself from, it comes in by
  // the loopback device.
  out.insert(out.end(),
             {load_word(device), unless_equal(loopback_device, 1), pass(0)});
  if (v6) { // whatever else is not global unicast
    out.push_back(load_word(source));
    out.push_back(mask(0xe0000000));
    out.push_back(unless_equal(0x20000000, 1));
    out.push_back(pass(whole_packet));
    out.push_back(pass(0));
  } else {
    out.push_back(pass(whole_packet));
  }
}

} // namespace

std::vector<sock_filter> guard_program(const std::vector<host_pattern>& allowed,
                                       bool is_stream,
                                       const ip_address& resolver,
                                       std::uint16_t resolver_port) {
  std::vector<sock_filter> out;
  if (is_stream) {
    out.insert(
      out.end(),
      {load_byte(tcp_flags), mask(syn | ack), unless_equal(syn, 1), pass(0)});
  } else {
    // load, compare, pass
    out.insert(out.end(),
               {load_half(source_port), unless_equal(resolver_port, 3),
                load_word(v4_source), unless_equal(word_of(resolver, 0), 1),
                pass(whole_packet)});
  }
  std::vector<sock_filter> v4, v6;
  emit_version(v4, allowed, false);
  emit_version(v6, allowed, true);
  // The version is the upper half of the first byte.
  out.insert(out.end(), {load_byte(ip_header), mask(0xf0)});
  out.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40, 1, 0));
  out.push_back(BPF_STMT(BPF_JMP | BPF_JA, static_cast<unsigned>(v4.size())));
  out.insert(out.end(), v4.begin(), v4.end());
  out.insert(out.end(), v6.begin(), v6.end());
  return out;
}

bool guard_socket(int socket,
                  const std::vector<sock_filter>& program) noexcept {
  if (program.size() > most_instructions)
    return false;
  sock_fprog p{static_cast<unsigned short>(program.size()),
               const_cast<sock_filter*>(program.data())};
  int yes = 1;
  return ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof p) == 0
    && ::setsockopt(socket, SOL_SOCKET, SO_LOCK_FILTER, &yes, sizeof yes) == 0;
}

bool can_guard_sockets() {
  static const bool can = [] {
    unique_fd trial{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return guard_socket(trial.get(), guard_program({}, true, {}, 0));
  }();
  return can;
}

} // namespace troupe::network
