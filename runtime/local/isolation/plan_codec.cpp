#include "runtime/local/isolation/containment.hpp"

#include <cstring>
#include <type_traits>

namespace troupe::isolation {

namespace {

/// No list of a plan is longer than this; a filter has some hundreds.
constexpr std::uint32_t max_items = 8'192;
constexpr std::uint32_t max_text = 64u << 10;

class writer {
public:
  template <class T>
  void raw(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& s) {
    raw(static_cast<std::uint32_t>(s.size()));
    out_ += s;
  }
  std::string take() { return std::move(out_); }

private:
  std::string out_;
};

class reader {
public:
  reader(const char* data, std::size_t size) : at_{data}, left_{size} {}

  template <class T>
  void raw(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!take(sizeof value))
      return;
    std::memcpy(&value, at_ - sizeof value, sizeof value);
  }
  void flag(bool& value) {
    std::uint8_t byte = 0;
    raw(byte);
    value = byte != 0;
  }
  void text(std::string& s) {
    std::uint32_t size = 0;
    raw(size);
    if (size > max_text || !take(size))
      good_ = false;
    else
      s.assign(at_ - size, size);
  }
  std::uint32_t count() {
    std::uint32_t n = 0;
    raw(n);
    good_ = good_ && n <= max_items;
    return good_ ? n : 0;
  }
  bool done() const { return good_ && left_ == 0; }
  bool good() const { return good_; }

private:
  bool take(std::size_t n) {
    if (!good_ || n > left_) {
      good_ = false;
      return false;
    }
    at_ += n;
    left_ -= n;
    return true;
  }

  const char* at_;
  std::size_t left_;
  bool good_ = true;
};

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
    w.raw(static_cast<std::uint8_t>(s.writable));
    w.raw(static_cast<std::uint8_t>(s.optional));
  }
  write_entries(w, t.links);
  write_entries(w, t.files);
  w.raw(t.scratch_bytes);
  w.raw(t.scratch_inodes);
  w.raw(static_cast<std::uint8_t>(t.proc));
}

void read_tree(reader& r, tree_plan& t) {
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& s = t.shown.emplace_back();
    r.text(s.host);
    r.text(s.inside);
    r.flag(s.writable);
    r.flag(s.optional);
  }
  read_entries(r, t.links);
  read_entries(r, t.files);
  r.raw(t.scratch_bytes);
  r.raw(t.scratch_inodes);
  r.flag(t.proc);
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
  each_layer(p.layers, [&](bool on) { w.raw(static_cast<std::uint8_t>(on)); });
  write_tree(w, p.tree);
  w.raw(static_cast<std::uint32_t>(p.rlimits.size()));
  for (const auto& l : p.rlimits) {
    w.raw(l.resource);
    w.raw(l.value);
  }
  w.raw(static_cast<std::uint32_t>(p.filter.size()));
  for (const auto& instruction : p.filter)
    w.raw(instruction);
  w.raw(static_cast<std::uint8_t>(p.notify));
  w.text(p.working_dir);
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
  for (auto n = r.count(); n > 0 && r.good(); --n)
    r.raw(out.filter.emplace_back());
  r.flag(out.notify);
  r.text(out.working_dir);
  return r.done();
}

} // namespace troupe::isolation
