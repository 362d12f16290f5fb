#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe::zygote {

/// What operators and benchmarks may want to see.
struct slot_counts {
  std::size_t zygotes = 0;
  std::size_t slots = 0;
  std::size_t idle = 0;
  std::size_t preforked = 0;
  std::size_t running = 0;
  std::uint64_t runs = 0;           // carried since the start
  std::uint64_t preforked_runs = 0; // of them, by a child that was waiting
  std::uint64_t early_results = 0;  // of them, answered before they were gone
  std::uint64_t replaced = 0;       // slots that were not clean, or were lost
  std::uint64_t restarts = 0;       // of interpreters
  std::int32_t zygote_pid = 0;
  std::uint64_t huge_pages = 0;
  std::uint64_t hot_blocks = 0;  // put side by side
  std::uint64_t ready_pages = 0; // written to before a run needs them
  std::string trouble;           // why no interpreter is ready, "": one is
};

} // namespace troupe::zygote
