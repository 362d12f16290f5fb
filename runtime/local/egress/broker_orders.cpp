#include "runtime/local/egress/broker_orders.hpp"

#include "runtime/local/isolation/binary_codec.hpp"

namespace troupe::network {

namespace {

using isolation::reader;
using isolation::writer;

void write(writer& w, const ip_address& a) {
  w.raw(a.bytes);
  w.flag(a.v6);
}

void read(reader& r, ip_address& a) {
  r.raw(a.bytes);
  r.flag(a.v6);
}

void write(writer& w, const broker_budget& b) {
  for (auto n : {b.sockets_at_once, b.sockets_per_second, b.held_bytes,
                 b.waiting_calls, b.percent_of_a_processor})
    w.raw(std::uint64_t{n});
}

void read(reader& r, broker_budget& b) {
  for (auto* n : {&b.sockets_at_once, &b.sockets_per_second, &b.held_bytes,
                  &b.waiting_calls, &b.percent_of_a_processor}) {
    std::uint64_t value = 0;
    r.raw(value);
    *n = value;
  }
}

void write(writer& w, const broker_options& o) {
  w.raw(static_cast<std::uint32_t>(o.nameservers.size()));
  for (const auto& a : o.nameservers)
    write(w, a);
  w.raw(o.nameserver_port);
  w.raw(std::int64_t{o.lookup_timeout.count()});
  write(w, o.of_a_run);
  write(w, o.of_an_organization);
  for (auto n : {o.events, o.names, o.lookups})
    w.raw(std::uint64_t{n});
  w.flag(o.guard_sockets);
  w.raw(static_cast<std::uint32_t>(o.ordinary.size()));
  for (const auto& n : o.ordinary) {
    write(w, n.base);
    w.raw(n.length);
  }
}

void read(reader& r, broker_options& o) {
  for (auto n = r.count(); n > 0 && r.good(); --n)
    read(r, o.nameservers.emplace_back());
  r.raw(o.nameserver_port);
  std::int64_t timeout = 0;
  r.raw(timeout);
  o.lookup_timeout = std::chrono::milliseconds{timeout};
  read(r, o.of_a_run);
  read(r, o.of_an_organization);
  for (auto* n : {&o.events, &o.names, &o.lookups}) {
    std::uint64_t value = 0;
    r.raw(value);
    *n = value;
  }
  r.flag(o.guard_sockets);
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& network = o.ordinary.emplace_back();
    read(r, network.base);
    r.raw(network.length);
  }
}

void write(writer& w, const network_policy& p) {
  w.raw(p.mode);
  w.raw(static_cast<std::uint32_t>(p.allow.size()));
  for (const auto& host : p.allow)
    w.text(host);
}

void read(reader& r, network_policy& p) {
  r.raw(p.mode);
  if (p.mode > network_mode::listed)
    r.refuse();
  for (auto n = r.count(); n > 0 && r.good(); --n)
    r.text(p.allow.emplace_back());
}

} // namespace

std::string encode(const broker_order& order) {
  writer w;
  w.raw(order.what);
  if (order.what == broker_order::word::open) {
    write(w, order.options);
    return w.take();
  }
  w.raw(order.run);
  if (order.what == broker_order::word::serve
      || order.what == broker_order::word::change)
    write(w, order.policy);
  return w.take();
}

bool decode(std::string_view packet, broker_order& out) {
  reader r{packet.data(), packet.size()};
  r.raw(out.what);
  switch (out.what) {
  case broker_order::word::open:
    read(r, out.options);
    return r.done();
  case broker_order::word::serve:
  case broker_order::word::change:
    r.raw(out.run);
    read(r, out.policy);
    return r.done();
  case broker_order::word::end:
  case broker_order::word::listen:
    r.raw(out.run);
    return r.done();
  }
  return false;
}

void append_decision(std::string& out, const network_event& event,
                     bool is_denial) {
  writer w;
  w.flag(is_denial);
  w.flag(event.allowed);
  w.text(event.target);
  w.text(event.reason);
  out += w.take();
}

broker::report read_record(std::string_view record) {
  broker::report report;
  reader r{record.data(), record.size()};
  while (r.good() && !r.done()) {
    network_event event;
    bool is_denial = false;
    r.flag(is_denial);
    r.flag(event.allowed);
    r.text(event.target);
    r.text(event.reason);
    if (!r.good())
      break;
    if (is_denial)
      report.denied = std::move(event);
    else
      report.events.push_back(std::move(event));
  }
  return report;
}

} // namespace troupe::network
