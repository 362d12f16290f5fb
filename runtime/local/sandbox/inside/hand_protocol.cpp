#include "runtime/local/sandbox/inside/hand_protocol.hpp"

#include "runtime/local/isolation/binary_codec.hpp"

namespace troupe::inside {

namespace {

constexpr std::uint32_t hand_magic = 0x74726831; // "trh1"

void read_kind(isolation::reader& r, file_kind& kind) {
  r.raw(kind);
  if (kind > file_kind::link)
    r.refuse();
}

/// A path as the kernel takes it.
void read_path(isolation::reader& r, std::string& path) {
  r.text(path);
  if (!path.starts_with('/') || path.find('\0') != path.npos)
    r.refuse();
}

void read_entries(isolation::reader& r, std::vector<hand_entry>& entries) {
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& e = entries.emplace_back();
    r.text(e.name);
    if (e.name.empty() || e.name.find('/') != e.name.npos)
      r.refuse();
    read_kind(r, e.kind);
    r.raw(e.bytes);
  }
}

void write_entries(isolation::writer& w,
                   const std::vector<hand_entry>& entries) {
  w.raw(static_cast<std::uint32_t>(entries.size()));
  for (const auto& e : entries) {
    w.text(e.name);
    w.raw(e.kind);
    w.raw(e.bytes);
  }
}

} // namespace

std::string encode(const hand_message& m) {
  isolation::writer w;
  w.raw(hand_magic);
  w.raw(m.what);
  switch (m.what) {
  case hand_word::move:
    w.text(m.path);
    w.text(m.to);
    break;
  case hand_word::open:
  case hand_word::write:
  case hand_word::list:
  case hand_word::stat:
  case hand_word::make_folder:
  case hand_word::remove:
    w.text(m.path);
    break;
  case hand_word::entries:
    write_entries(w, m.entries);
    break;
  case hand_word::done:
    w.raw(m.error);
    w.raw(m.kind);
    w.raw(m.bytes);
    break;
  }
  return w.take();
}

bool decode(std::string_view packet, hand_message& out) {
  isolation::reader r{packet.data(), packet.size()};
  out = hand_message{};
  std::uint32_t tag = 0;
  r.raw(tag);
  r.raw(out.what);
  if (!r.good() || tag != hand_magic)
    return false;
  switch (out.what) {
  case hand_word::move:
    read_path(r, out.path);
    read_path(r, out.to);
    return r.done();
  case hand_word::open:
  case hand_word::write:
  case hand_word::list:
  case hand_word::stat:
  case hand_word::make_folder:
  case hand_word::remove:
    read_path(r, out.path);
    return r.done();
  case hand_word::entries:
    read_entries(r, out.entries);
    return r.done();
  case hand_word::done:
    r.raw(out.error);
    read_kind(r, out.kind);
    r.raw(out.bytes);
    return r.done();
  }
  return false;
}

} // namespace troupe::inside
