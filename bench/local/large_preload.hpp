#pragma once

#include "bench/bench.hpp"
#include "bench/local/engine.hpp"

#include <string>
#include <vector>

namespace troupe::bench {

/// An interpreter that has a quarter of a gigabyte to import: a copy of the
/// host's with packages of its own. Gone with this.
class large_library {
public:
  large_library();
  ~large_library();
  large_library(const large_library&) = delete;
  large_library& operator=(const large_library&) = delete;

  std::string python() const { return root_ + "/bin/python3"; }
  std::vector<std::string> preload() const { return {"troupe_ballast"}; }

private:
  std::string root_;
};

/// Runs out of an interpreter that has imported a quarter of a gigabyte, beside
/// runs out of one that has not.
void measure_ballast(report& out, local_engine& light);

} // namespace troupe::bench
