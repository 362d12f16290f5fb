#include "runtime/local/warden/protocol.hpp"

#include "runtime/local/isolation/binary_codec.hpp"
#include "runtime/model/limit_fields.hpp"

namespace troupe::warden {

namespace {

using isolation::reader;
using isolation::writer;

void write(writer& w, const limits& l) {
  for_each_row(limit_fields, [&](const auto& f) { w.raw(f.of(l)); });
}

void read(reader& r, limits& l) {
  for_each_row(limit_fields, [&](const auto& f) { r.raw(f.of(l)); });
}

void write(writer& w, const start_order& s) {
  w.raw(s.ticket);
  w.raw(s.level);
  w.flag(s.has_stdin);
  w.flag(s.has_channel);
  w.flag(s.notify_network);
  write(w, s.limits);
  w.raw(s.cpus);
  w.text(s.working_dir);
  w.raw(static_cast<std::uint32_t>(s.shown.size()));
  for (const auto& path : s.shown) {
    w.text(path.host);
    w.text(path.inside);
    w.flag(path.writable);
    w.flag(path.exactly);
  }
  w.raw(static_cast<std::uint32_t>(s.layers.size()));
  for (const auto layer : s.layers)
    w.raw(layer);
  w.raw(s.copies);
}

void read(reader& r, start_order& s) {
  r.raw(s.ticket);
  std::uint8_t level = 0;
  r.raw(level);
  if (level > static_cast<std::uint8_t>(isolation_level::off))
    r.refuse();
  s.level = static_cast<isolation_level>(level);
  r.flag(s.has_stdin);
  r.flag(s.has_channel);
  r.flag(s.notify_network);
  read(r, s.limits);
  r.raw(s.cpus);
  r.text(s.working_dir);
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& path = s.shown.emplace_back();
    r.text(path.host);
    r.text(path.inside);
    r.flag(path.writable);
    r.flag(path.exactly);
  }
  for (auto n = r.count(); n > 0 && r.good(); --n)
    r.raw(s.layers.emplace_back());
  r.raw(s.copies);
}

template <class Notice, class Visit>
void each_fact(Notice& n, Visit visit) {
  for (auto* fact : {&n.killed, &n.memory_exceeded, &n.processes_exceeded,
                     &n.cpu_exceeded, &n.disk_full})
    visit(*fact);
}

void write(writer& w, const end_notice& e) {
  w.raw(e.ticket);
  w.raw(e.failure.at);
  w.raw(e.failure.error);
  w.raw(e.wait_status);
  each_fact(e, [&](bool fact) { w.flag(fact); });
  w.raw(e.wall_us);
  w.raw(e.cpu_us);
  w.raw(e.peak_memory_bytes);
  w.text(e.detail);
  w.raw(e.layer_bytes);
  w.raw(e.layer_inodes);
}

void read(reader& r, end_notice& e) {
  r.raw(e.ticket);
  r.raw(e.failure.at);
  if (e.failure.at > isolation::step::exec)
    r.refuse();
  r.raw(e.failure.error);
  r.raw(e.wait_status);
  each_fact(e, [&](bool& fact) { r.flag(fact); });
  r.raw(e.wall_us);
  r.raw(e.cpu_us);
  r.raw(e.peak_memory_bytes);
  r.text(e.detail);
  r.raw(e.layer_bytes);
  r.raw(e.layer_inodes);
}

void write(writer& w, const lease_grant& g) {
  w.raw(g.ticket);
  w.raw(g.clone_flags);
  w.raw(g.uid);
  w.raw(g.gid);
  w.raw(g.groups);
  for (bool fact : {g.new_user, g.privileged, g.namespaces_per_run, g.has_peak,
                    g.has_events, g.has_forks, g.has_cpu})
    w.flag(fact);
}

void read(reader& r, lease_grant& g) {
  r.raw(g.ticket);
  r.raw(g.clone_flags);
  r.raw(g.uid);
  r.raw(g.gid);
  r.raw(g.groups);
  for (auto* fact : {&g.new_user, &g.privileged, &g.namespaces_per_run,
                     &g.has_peak, &g.has_events, &g.has_forks, &g.has_cpu})
    r.flag(*fact);
}

void write(writer& w, const std::vector<std::string>& texts) {
  w.raw(static_cast<std::uint32_t>(texts.size()));
  for (const auto& text : texts)
    w.text(text);
}

void read(reader& r, std::vector<std::string>& texts) {
  for (auto n = r.count(); n > 0 && r.good(); --n)
    r.text(texts.emplace_back());
}

} // namespace

std::string encode(const message& m) {
  writer w;
  w.raw(magic);
  w.raw(m.what);
  switch (m.what) {
  case word::start:
  case word::lease:
  case word::keep:
    write(w, m.start);
    break;
  case word::kill:
  case word::release:
  case word::broker:
  case word::drop:
  case word::started:
  case word::released:
    w.raw(m.ticket);
    break;
  case word::freeze:
  case word::thaw:
  case word::lend:
    w.raw(m.ticket);
    w.raw(m.of);
    break;
  case word::cut:
    w.raw(m.ticket);
    w.raw(m.of);
    w.raw(m.most);
    break;
  case word::spawn_interpreter:
    w.raw(m.ticket);
    write(w, m.argv);
    break;
  case word::leased:
    write(w, m.grant);
    break;
  case word::stop:
    break;
  case word::hello:
    w.text(isolation::encode(m.hello));
    break;
  case word::ended:
    write(w, m.end);
    break;
  }
  return w.take();
}

bool decode(std::string_view packet, message& out) {
  reader r{packet.data(), packet.size()};
  std::uint32_t tag = 0;
  r.raw(tag);
  r.raw(out.what);
  if (!r.good() || tag != magic)
    return false;
  switch (out.what) {
  case word::start:
  case word::lease:
  case word::keep:
    read(r, out.start);
    return r.done();
  case word::kill:
  case word::release:
  case word::broker:
  case word::drop:
  case word::started:
  case word::released:
    r.raw(out.ticket);
    return r.done();
  case word::freeze:
  case word::thaw:
  case word::lend:
    r.raw(out.ticket);
    r.raw(out.of);
    return r.done();
  case word::cut:
    r.raw(out.ticket);
    r.raw(out.of);
    r.raw(out.most);
    return r.done();
  case word::spawn_interpreter:
    r.raw(out.ticket);
    read(r, out.argv);
    return r.done();
  case word::leased:
    read(r, out.grant);
    return r.done();
  case word::stop:
    return r.done();
  case word::hello: {
    std::string report;
    r.text(report);
    return r.done() && isolation::decode(report, out.hello);
  }
  case word::ended:
    read(r, out.end);
    return r.done();
  }
  return false;
}

} // namespace troupe::warden
