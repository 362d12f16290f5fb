#pragma once

#include "storage/database/key_codec.hpp"
#include "storage/sealing/sealer.hpp"
#include "tests/storage/support.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace troupe::tests {

inline const organization_id org_a{"org-a"};
inline const organization_id org_b{"org-b"};

inline sealed_place config_place(const organization_id& org = org_a,
                                 std::string owner = "sandbox-1",
                                 std::string_view name = "TOKEN") {
  return {org, sealed_kind::config_variable, std::move(owner), name};
}

inline std::shared_ptr<sealer> open_sealer(std::shared_ptr<database> db,
                                           const std::filesystem::path& file) {
  master_key_options options;
  options.file = file;
  options.lookup = [](const std::string&) { return std::nullopt; };
  return must(sealer::open(db, must(key_source::open(options, true))));
}

/// A store with its sealer, opened again on demand.
struct sealer_fixture {
  temporary_directory place;
  std::filesystem::path path = place / "store";
  std::filesystem::path file = place / "master.key";
  std::shared_ptr<database> db = must(database::open(path));
  std::shared_ptr<sealer> seals = open_sealer(db, file);

  void reopen() {
    seals.reset();
    db.reset();
    db = must(database::open(path));
    seals = open_sealer(db, file);
  }
  std::string seal(const sealed_place& where, const std::string& text) {
    return must(seals->seal(where, secret{text}, 1));
  }
  std::string open(const sealed_place& where, const std::string& sealed) {
    return must(seals->open(where, sealed)).reveal();
  }
  std::map<std::string, int> masters_in_use() {
    std::map<std::string, int> count;
    must(each_wrapped_key(*db, [&](wrapped_key w) -> result<void> {
      ++count[w.master];
      return {};
    }));
    return count;
  }
};

} // namespace troupe::tests
