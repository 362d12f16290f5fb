#include "runtime/model/backend_name.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>

namespace troupe {

/// Entries are written before they are counted and never change.
class backend_name::table {
public:
  static table& get() {
    static table all;
    return all;
  }

  std::size_t count() const noexcept { return count_.load(); }
  const entry* at(std::size_t index) const noexcept { return &entries_[index]; }

  const entry* find(std::string_view text) const noexcept {
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(count());
    const auto found
      = std::find_if(entries_.begin(), end,
                     [&](const entry& each) { return each.text == text; });
    return found == end ? nullptr : &*found;
  }

  /// Null: there is no place for another one.
  const entry* add(backend_kind kind, std::string text) {
    std::lock_guard guard{mutex_};
    if (const auto* known = find(text))
      return known;
    const auto index = count();
    if (index == most)
      return nullptr;
    entries_[index] = {kind, index, texts_.emplace_back(std::move(text))};
    count_ = index + 1;
    return &entries_[index];
  }

private:
  table() {
    for (const auto& each : backend_kinds_known)
      add(each.kind, std::string{each.text});
  }

  std::mutex mutex_;
  std::deque<std::string> texts_;
  std::array<entry, most> entries_{};
  std::atomic<std::size_t> count_{0};
};

namespace {

constexpr std::size_t longest_account = 32;

bool is_account(std::string_view text) {
  return !text.empty() && text.size() <= longest_account
    && std::ranges::all_of(text, [](char c) {
         return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'
           || c == '_';
       });
}

} // namespace

backend_name::backend_name(backend_kind kind) noexcept
    : entry_{table::get().at(static_cast<std::size_t>(kind))} {}

result<backend_name> backend_name::make(backend_kind kind,
                                        std::string_view account) {
  if (!facts_of(kind).is_provider)
    return bad_field("", std::string{to_string(kind)} + " has no accounts",
                     "only providers have");
  if (!is_account(account))
    return bad_field("", "is not a name for an account",
                     "use at most 32 of a-z, 0-9, '-' and '_'");
  auto text = std::string{to_string(kind)} + "." + std::string{account};
  if (const auto* made = table::get().add(kind, std::move(text)))
    return backend_name{made};
  return error{ec::exhausted,
               "there are " + std::to_string(most)
                 + " backends already, the most that one engine can have",
               {},
               {}};
}

std::size_t backend_name::count() noexcept {
  return table::get().count();
}

backend_name backend_name::at(std::size_t index) noexcept {
  return backend_name{table::get().at(index)};
}

result<backend_name> parse_backend_name(std::string_view text) {
  std::string known;
  for (std::size_t i = 0; i < backend_name::count(); ++i) {
    const auto name = backend_name::at(i);
    if (name.text() == text)
      return name;
    known += (known.empty() ? "" : ", ") + std::string{name.text()};
  }
  return bad_field("",
                   "'" + std::string{text.substr(0, 64)} + "' is not a backend",
                   "one of " + known);
}

result<backend_name> recall_backend_name(std::string_view text) {
  auto known = parse_backend_name(text);
  if (known)
    return known;
  if (auto kind = parse_backend(text.substr(0, text.find('.'))))
    return backend_name{*kind};
  return known;
}

} // namespace troupe
