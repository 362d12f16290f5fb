#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/warm/interpreter_command.hpp"

#include <functional>
#include <optional>
#include <string>

namespace troupe::zygote {

/// When to find out which blocks of an interpreter's memory runs write to
/// (python/hot_blocks): once per host and version of everything that matters,
/// after so many runs. A busy engine pays for it, one that runs a tool now and
/// then never does.
class profile_learner {
public:
  profile_learner(const zygote_options& options,
                  const interpreter_paths& paths);

  /// Of the profile, where there is one to read; else "".
  std::string known_profile() const;

  /// `begin(path, control)`, once, when so many runs have told enough.
  void begin_if_due(std::uint64_t runs,
                    const std::function<void(const std::string& path,
                                             unique_fd control)>& begin);
  /// That interpreter is gone. True: there is a profile to be used now.
  bool on_end();

private:
  std::string path_; // "": nothing is to be learned
  std::uint64_t after_;
  bool tried_ = false;
  unique_fd control_; // our end, while it learns
};

} // namespace troupe::zygote
