#pragma once

#include "runtime/settings/settings.hpp"

#include <string>
#include <vector>

namespace troupe {

class local_backend;

/// One thing that was looked at, and what to do where it is not as it should.
struct finding {
  /// Available, partly available, missing, or not requested.
  enum class state : unsigned char { good, weak, missing, unused };

  std::string name;
  state how = state::good;
  std::string word; // the same, in its own words: "enforced", "found", "old"
  bool core = false;
  std::string reason;
  std::string advice;
};

/// The layers of isolation, the interpreters with what they need to install
/// packages, the warm ones, and every backend. Takes some seconds.
std::vector<finding> check_host(const settings& s, local_backend& local);

} // namespace troupe
