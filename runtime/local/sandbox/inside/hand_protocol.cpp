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
    r.text(e.target);
  }
}

void read_matches(isolation::reader& r, std::vector<hand_match>& matches) {
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& m = matches.emplace_back();
    r.text(m.path);
    read_kind(r, m.kind);
    r.raw(m.bytes);
    r.raw(m.line);
    r.text(m.text);
  }
}

void write_matches(isolation::writer& w,
                   const std::vector<hand_match>& matches) {
  w.raw(static_cast<std::uint32_t>(matches.size()));
  for (const auto& m : matches) {
    w.text(m.path);
    w.raw(m.kind);
    w.raw(m.bytes);
    w.raw(m.line);
    w.text(m.text);
  }
}

void read_events(isolation::reader& r, std::vector<hand_event>& events) {
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& e = events.emplace_back();
    r.raw(e.what);
    if (e.what > event_kind::overflow)
      r.refuse();
    r.text(e.path);
    r.text(e.to);
  }
}

void write_events(isolation::writer& w, const std::vector<hand_event>& events) {
  w.raw(static_cast<std::uint32_t>(events.size()));
  for (const auto& e : events) {
    w.raw(e.what);
    w.text(e.path);
    w.text(e.to);
  }
}

void read_done(isolation::reader& r, hand_message& m) {
  r.raw(m.error);
  read_kind(r, m.kind);
  r.raw(m.bytes);
  r.raw(m.count);
  r.flag(m.whole);
  r.text(m.about);
}

void write_done(isolation::writer& w, const hand_message& m) {
  w.raw(m.error);
  w.raw(m.kind);
  w.raw(m.bytes);
  w.raw(m.count);
  w.flag(m.whole);
  w.text(m.about);
}

void read_search(isolation::reader& r, hand_message& m) {
  read_path(r, m.path);
  r.text(m.name);
  r.text(m.text);
  r.flag(m.ignore_case);
  r.raw(m.most);
}

void write_search(isolation::writer& w, const hand_message& m) {
  w.text(m.path);
  w.text(m.name);
  w.text(m.text);
  w.flag(m.ignore_case);
  w.raw(m.most);
}

void write_entries(isolation::writer& w,
                   const std::vector<hand_entry>& entries) {
  w.raw(static_cast<std::uint32_t>(entries.size()));
  for (const auto& e : entries) {
    w.text(e.name);
    w.raw(e.kind);
    w.raw(e.bytes);
    w.text(e.target);
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
  case hand_word::pack:
  case hand_word::unpack:
    w.text(m.path);
    break;
  case hand_word::search:
    write_search(w, m);
    break;
  case hand_word::watch:
    w.text(m.path);
    w.flag(m.recursive);
    break;
  case hand_word::matches:
    write_matches(w, m.matches);
    break;
  case hand_word::events:
    write_events(w, m.events);
    break;
  case hand_word::entries:
    write_entries(w, m.entries);
    break;
  case hand_word::done:
    write_done(w, m);
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
  case hand_word::pack:
  case hand_word::unpack:
    read_path(r, out.path);
    return r.done();
  case hand_word::search:
    read_search(r, out);
    return r.done();
  case hand_word::watch:
    read_path(r, out.path);
    r.flag(out.recursive);
    return r.done();
  case hand_word::matches:
    read_matches(r, out.matches);
    return r.done();
  case hand_word::events:
    read_events(r, out.events);
    return r.done();
  case hand_word::entries:
    read_entries(r, out.entries);
    return r.done();
  case hand_word::done:
    read_done(r, out);
    return r.done();
  }
  return false;
}

} // namespace troupe::inside
