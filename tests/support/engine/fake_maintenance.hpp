#pragma once

#include "runtime/engine/maintenance.hpp"

#include <utility>

namespace troupe::test {

/// Answers at once, with what the test wants.
class fake_maintenance final : public maintenance {
public:
  void back_up(std::filesystem::path directory,
               std::function<void(result<backup_facts>)> done) override {
    last = directory;
    done(next_backup);
  }
  void
  rotate_master(std::function<void(result<master_key_change>)> done) override {
    done(master_key_change{"old", "new"});
  }

  std::filesystem::path last;
  result<backup_facts> next_backup = backup_facts{3, 4'096, 1, "old"};
};

} // namespace troupe::test
