#pragma once

#include "runtime/model/backend_kind.hpp"

#include <compare>
#include <cstddef>
#include <functional>
#include <string_view>

namespace troupe {

/// Which backend: the only one of its kind ("e2b"), or another account there
/// ("e2b.research"). A value of one word. Names are made when the settings are
/// read and stay for the life of the process; nothing that a caller sends makes
/// one.
class backend_name {
public:
  /// How many a process may have: everything that is kept by backend has a
  /// place for each.
  static constexpr std::size_t most = 32;

  backend_name() noexcept : backend_name{backend_kind::local} {}
  backend_name(backend_kind kind) noexcept; // the first of its kind

  /// Another account at a provider. The same one again is the same name.
  static result<backend_name> make(backend_kind kind, std::string_view account);
  static std::size_t count() noexcept;
  /// By `index()`, below `count()`.
  static backend_name at(std::size_t index) noexcept;

  backend_kind kind() const noexcept { return entry_->kind; }
  std::string_view text() const noexcept { return entry_->text; }
  std::size_t index() const noexcept { return entry_->index; }

  friend bool operator==(backend_name a, backend_name b) noexcept {
    return a.entry_ == b.entry_;
  }
  friend std::strong_ordering operator<=>(backend_name a,
                                          backend_name b) noexcept {
    return a.index() <=> b.index();
  }

private:
  struct entry {
    backend_kind kind = backend_kind::local;
    std::size_t index = 0;
    std::string_view text;
  };
  class table;

  explicit backend_name(const entry* of) noexcept : entry_{of} {}

  const entry* entry_;
};

inline std::string_view to_string(backend_name name) {
  return name.text();
}
/// One of the names that there are.
result<backend_name> parse_backend_name(std::string_view text);
/// The same from a record or another node: an account that is not known here
/// (any more) is told as its kind.
result<backend_name> recall_backend_name(std::string_view text);

} // namespace troupe

template <>
struct std::hash<troupe::backend_name> {
  std::size_t operator()(troupe::backend_name name) const noexcept {
    return name.index();
  }
};
