#include "runtime/local/sandbox/inside/keeper_protocol.hpp"

#include "runtime/local/isolation/binary_codec.hpp"

namespace troupe::inside {

namespace {

constexpr std::uint32_t keeper_magic = 0x74726b31; // "trk1"
constexpr std::int32_t last_signal = 64;

void write_end(isolation::writer& w, const keeper_message& m) {
  w.raw(m.failure.at);
  w.raw(m.failure.error);
  w.raw(m.wait_status);
  w.flag(m.killed);
  w.flag(m.lost);
  w.raw(m.cpu_us);
}

void read_end(isolation::reader& r, keeper_message& m) {
  r.raw(m.failure.at);
  if (m.failure.at > isolation::step::exec)
    r.refuse();
  r.raw(m.failure.error);
  r.raw(m.wait_status);
  r.flag(m.killed);
  r.flag(m.lost);
  r.raw(m.cpu_us);
}

void write_ports(isolation::writer& w, const keeper_message& m) {
  w.raw(m.error);
  w.raw(static_cast<std::uint32_t>(m.ports.size()));
  for (const auto port : m.ports)
    w.raw(port);
}

void read_ports(isolation::reader& r, keeper_message& m) {
  r.raw(m.error);
  const auto count = r.count();
  if (count > max_listed_ports)
    r.refuse();
  for (std::uint32_t i = 0; i < count && r.good(); ++i)
    r.raw(m.ports.emplace_back());
}

void write_exec(isolation::writer& w, const keeper_message& m) {
  w.flag(m.has_input);
  w.flag(m.has_channel);
  w.flag(m.may_leave);
  w.text(m.cwd);
  w.flag(m.terminal.has_value());
  if (m.terminal) {
    w.raw(m.terminal->columns);
    w.raw(m.terminal->rows);
  }
}

void read_exec(isolation::reader& r, keeper_message& m) {
  r.flag(m.has_input);
  r.flag(m.has_channel);
  r.flag(m.may_leave);
  r.text(m.cwd);
  if (m.cwd.empty() || m.cwd.find('\0') != m.cwd.npos)
    r.refuse();
  bool has_terminal = false;
  r.flag(has_terminal);
  if (!has_terminal)
    return;
  auto& size = m.terminal.emplace();
  r.raw(size.columns);
  r.raw(size.rows);
  if (m.has_input || m.has_channel) // it has no place for them
    r.refuse();
}

/// What a word brings beside its ticket. False: there is no such word.
bool read_body(isolation::reader& r, keeper_message& m) {
  switch (m.what) {
  case keeper_word::exec:
    read_exec(r, m);
    return true;
  case keeper_word::signal:
    r.raw(m.number);
    if (m.number < 1 || m.number > last_signal)
      r.refuse();
    return true;
  case keeper_word::begun:
    r.raw(m.pid);
    if (m.pid < 1)
      r.refuse();
    return true;
  case keeper_word::ended:
    read_end(r, m);
    return true;
  case keeper_word::connect:
    r.raw(m.port);
    if (m.port == 0)
      r.refuse();
    return true;
  case keeper_word::connected:
    r.raw(m.error);
    return true;
  case keeper_word::listening:
    read_ports(r, m);
    return true;
  case keeper_word::hand:
  case keeper_word::ready:
  case keeper_word::ports:
  case keeper_word::listener:
    return true;
  }
  return false;
}

} // namespace

std::string encode(const keeper_message& m) {
  isolation::writer w;
  w.raw(keeper_magic);
  w.raw(m.what);
  w.raw(m.ticket);
  switch (m.what) {
  case keeper_word::exec:
    write_exec(w, m);
    break;
  case keeper_word::signal:
    w.raw(m.number);
    break;
  case keeper_word::begun:
    w.raw(m.pid);
    break;
  case keeper_word::ended:
    write_end(w, m);
    break;
  case keeper_word::connect:
    w.raw(m.port);
    break;
  case keeper_word::connected:
    w.raw(m.error);
    break;
  case keeper_word::listening:
    write_ports(w, m);
    break;
  case keeper_word::hand:
  case keeper_word::ready:
  case keeper_word::ports:
  case keeper_word::listener:
    break;
  }
  return w.take();
}

bool decode(std::string_view packet, keeper_message& out) {
  isolation::reader r{packet.data(), packet.size()};
  std::uint32_t tag = 0;
  r.raw(tag);
  r.raw(out.what);
  r.raw(out.ticket);
  return r.good() && tag == keeper_magic && read_body(r, out) && r.done();
}

} // namespace troupe::inside
