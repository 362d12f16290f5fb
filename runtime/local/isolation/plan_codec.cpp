#include "runtime/local/isolation/binary_codec.hpp"
#include "runtime/local/isolation/containment.hpp"

namespace troupe::isolation {

namespace {

void write_entries(writer& w, const std::vector<tree_entry>& entries) {
  w.raw(static_cast<std::uint32_t>(entries.size()));
  for (const auto& e : entries) {
    w.text(e.inside);
    w.text(e.content);
  }
}

void read_entries(reader& r, std::vector<tree_entry>& entries) {
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& e = entries.emplace_back();
    r.text(e.inside);
    r.text(e.content);
  }
}

void write_tree(writer& w, const tree_plan& t) {
  w.raw(static_cast<std::uint32_t>(t.shown.size()));
  for (const auto& s : t.shown) {
    w.text(s.host);
    w.text(s.inside);
    w.flag(s.writable);
    w.flag(s.optional);
    w.flag(s.exactly);
  }
  write_entries(w, t.links);
  write_entries(w, t.files);
  w.raw(t.scratch_bytes);
  w.raw(t.scratch_inodes);
  w.flag(t.proc);
}

void read_tree(reader& r, tree_plan& t) {
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& s = t.shown.emplace_back();
    r.text(s.host);
    r.text(s.inside);
    r.flag(s.writable);
    r.flag(s.optional);
    r.flag(s.exactly);
  }
  read_entries(r, t.links);
  read_entries(r, t.files);
  r.raw(t.scratch_bytes);
  r.raw(t.scratch_inodes);
  r.flag(t.proc);
}

void write_filter(writer& w, const std::vector<sock_filter>& filter) {
  w.raw(static_cast<std::uint32_t>(filter.size()));
  for (const auto& instruction : filter)
    w.raw(instruction);
}

void read_filter(reader& r, std::vector<sock_filter>& filter) {
  for (auto n = r.count(); n > 0 && r.good(); --n)
    r.raw(filter.emplace_back());
}

template <class Layers, class Visit>
void each_layer(Layers& l, Visit visit) {
  for (auto* flag : {&l.user, &l.mounts, &l.pids, &l.network, &l.ipc, &l.uts,
                     &l.cgroup_view, &l.capabilities, &l.landlock, &l.seccomp})
    visit(*flag);
}

} // namespace

std::string encode(const plan& p) {
  writer w;
  each_layer(p.layers, [&](bool on) { w.flag(on); });
  write_tree(w, p.tree);
  w.raw(static_cast<std::uint32_t>(p.rlimits.size()));
  for (const auto& l : p.rlimits) {
    w.raw(l.resource);
    w.raw(l.value);
  }
  write_filter(w, p.filter);
  w.flag(p.notify);
  w.text(p.working_dir);
  w.flag(p.namespaces_per_run);
  write_filter(w, p.run_filter);
  return w.take();
}

bool decode(const void* data, std::size_t size, plan& out) {
  reader r{static_cast<const char*>(data), size};
  out = plan{};
  each_layer(out.layers, [&](bool& on) { r.flag(on); });
  read_tree(r, out.tree);
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& l = out.rlimits.emplace_back();
    r.raw(l.resource);
    r.raw(l.value);
  }
  read_filter(r, out.filter);
  r.flag(out.notify);
  r.text(out.working_dir);
  r.flag(out.namespaces_per_run);
  read_filter(r, out.run_filter);
  return r.done();
}

} // namespace troupe::isolation
