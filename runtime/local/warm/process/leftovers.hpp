#pragma once

#include <time.h>

#include <cstdint>

namespace troupe::zygote {

/// Everything that a run can leave behind although its processes are dead:
/// files, System V objects, and changes to what its slot's first process,
/// whose user it shares, hands on to the next run. Compared with how the slot
/// was made; any difference means that the slot has had its day.
class leftovers {
public:
  struct reach {
    bool files = false;    // the slot has its own
    bool system_v = false; // and namespace of these
    bool limits = false;   // no filter keeps a run from the slot's
  };

  static constexpr int directories = 2; // that every run may write to

  void remember(const reach& within);
  bool none() const;
  /// What a run used files for shows in the times of their directories.
  void restore_times() const;

private:
  static constexpr int max_words = 80;
  int read(std::uint64_t* words) const;

  reach within_;
  std::uint64_t words_[max_words] = {};
  int count_ = 0;
  timespec times_[directories][2] = {};
};

} // namespace troupe::zygote
