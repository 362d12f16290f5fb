#pragma once

#include "runtime/local/warm/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::zygote {

/// Which interpreter a zygote is.
enum class family : std::uint8_t { python, node };

/// Where an interpreter and what it loads lie on the host.
struct interpreter_paths {
  zygote::family family = zygote::family::python;
  std::string interpreter; // the one that cold runs use
  bool for_venvs = false;  // of runs that have one; Python only
  std::string home;        // where the interpreter begins, if that is known
  std::string module;      // where `install` put it
  std::string boot;
  std::string runners;        // what runtime/runner installed
  std::string runners_inside; // where a run sees that
  std::string profiles;       // for what is learned, from start to start
};

/// To serve runs, or to find out what they write to.
enum class purpose : std::uint8_t { serve, learn };

/// What starts it. `profile`: of hot blocks, to read or to write, "": none.
std::vector<std::string> interpreter_command(const zygote_options& options,
                                             const interpreter_paths& paths,
                                             purpose what,
                                             const std::string& profile);

} // namespace troupe::zygote
