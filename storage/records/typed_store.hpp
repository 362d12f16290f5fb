#pragma once

#include "runtime/engine/engine.hpp"
#include "storage/database/database.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What every typed store does. `Kind` says what is stored and how:
///
///   using record = tool;
///   static constexpr column where = column::tools;
///   static constexpr std::string_view name = "tool";
///   static std::string key(const record&);    // begins with the organization
///   static std::string encode(const record&);
///   static result<record> decode(std::string_view);
///
/// Writing fills a batch: what belongs together is written together.
template <class Kind>
class typed_store {
public:
  using record = typename Kind::record;

  explicit typed_store(std::shared_ptr<database> db) : db_{std::move(db)} {}

  void put(batch& changes, const record& r) const;
  void erase(batch& changes, const record& r) const;

  /// `rest` are the components of the key behind the organization.
  result<std::optional<record>>
  find(const organization_id& organization,
       std::initializer_list<std::string_view> rest) const;

  /// In order of keys. `after` is the last page's `next`, "" for the first.
  result<page<record>> list(const organization_id& organization,
                            std::string_view after, std::size_t limit) const;

  /// All of all organizations; one that does not read is an error.
  result<void> each(const std::function<result<void>(record)>& take) const;

private:
  static result<record> read(std::string_view key, std::string_view value);

  std::shared_ptr<database> db_;
};

} // namespace troupe
