#pragma once

#include "storage/maintenance/store.hpp"
#include "tests/storage/support.hpp"

#include <chrono>

namespace troupe::tests {

inline timestamp at(std::int64_t seconds) {
  return timestamp{std::chrono::seconds{1'790'000'000 + seconds}};
}

/// A whole store in a directory of its own.
struct store_fixture {
  temporary_directory place;
  store_options options;
  store kept;
  author alice{organization_id{"org-a"}, user_id{"user-alice"}};
  author bob{organization_id{"org-b"}, user_id{"user-bob"}};
  std::int64_t clock = 0;

  store_fixture() {
    options.data_directory = place / "data";
    options.master.lookup = [](const std::string&) { return std::nullopt; };
    options.catalog.defaults.sandbox_dir = "/sandbox";
    open();
  }
  void open() { kept = must(open_store(options)); }
  void close() { kept = {}; }
  void reopen() {
    close();
    open();
  }

  result<change_reply> apply(const author& who, const catalog_change& what) {
    return kept.catalog->apply(who, what, at(++clock));
  }
  change_reply change(const author& who, const catalog_change& what) {
    return must(apply(who, what));
  }
  const organization_catalog& of(const author& who) {
    seen = kept.catalog->current();
    const auto* found = seen->find(who.organization);
    BOOST_REQUIRE(found);
    return *found;
  }
  std::string value_of(const sealed_variable& v) {
    return must(kept.seals->open(v)).reveal();
  }
  config_id config(const author& who, backend_kind type = backend_kind::local) {
    return change(who, default_config{type}).config->id;
  }
  std::uint64_t version() { return kept.catalog->current()->version; }

  catalog_ptr seen;
};

inline tool make_tool(const std::string& name, const std::string& source = "") {
  tool t;
  t.name = name;
  t.source_code = source;
  return t;
}

inline api_key make_key(const std::string& hash) {
  api_key k;
  k.hash = hash;
  return k;
}

} // namespace troupe::tests
