#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// What makes runs out of warm interpreters cheap, each with a switch of its
/// own: where a host lacks what one needs, that one does nothing. The files
/// that do it say what it buys; docs/performance.md has measured it.
struct warm_optimizations {
  bool child_allocator = true;  // a run allocates on pages of its own
  bool huge_text = true;        // code and constants on huge pages
  bool huge_heap = true;        // the heap on huge pages
  bool joined_libraries = true; // one mapping for libraries seldom used
  bool gathered_pages = true;   // written pages side by side
  bool hot_blocks = true;       // heap blocks that runs write to, likewise
  bool cold_memory = true;      // large preloads where fork does not look
  bool prefork = true;          // the next run's process during this run
  bool early_result = true;     // an answer before the process is gone
  bool ready_pages = true;      // a waiting process writes to pages ahead
  bool direct_seed = true;      // V8's generator is seeded in place
};

/// One of them, for everything that names it: `local.disabled-optimizations`,
/// the command line of an interpreter, `troupe_bench tricks`.
struct warm_optimization {
  enum class family : std::uint8_t { any, python, node };

  std::string_view name;
  bool warm_optimizations::*flag;
  family of = family::any; // the interpreters that it is for
};

inline constexpr std::array warm_optimization_table{
  warm_optimization{"child-allocator", &warm_optimizations::child_allocator,
                    warm_optimization::family::python},
  warm_optimization{"huge-text", &warm_optimizations::huge_text},
  warm_optimization{"huge-heap", &warm_optimizations::huge_heap},
  warm_optimization{"joined-libraries", &warm_optimizations::joined_libraries},
  warm_optimization{"gathered-pages", &warm_optimizations::gathered_pages},
  warm_optimization{"hot-blocks", &warm_optimizations::hot_blocks,
                    warm_optimization::family::python}, // needs huge-heap
  warm_optimization{"cold-memory", &warm_optimizations::cold_memory,
                    warm_optimization::family::python},
  warm_optimization{"prefork", &warm_optimizations::prefork},
  warm_optimization{"early-result", &warm_optimizations::early_result},
  warm_optimization{"ready-pages", &warm_optimizations::ready_pages},
  warm_optimization{"direct-seed", &warm_optimizations::direct_seed,
                    warm_optimization::family::node},
};
static_assert(warm_optimization_table.size() == sizeof(warm_optimizations));

/// Null: none is called that.
constexpr const warm_optimization*
find_warm_optimization(std::string_view name) {
  for (const auto& one : warm_optimization_table)
    if (one.name == name)
      return &one;
  return nullptr;
}

/// The names of those that are on, with `between` in between.
inline std::string names_of(const warm_optimizations& on,
                            std::string_view between) {
  std::string names;
  for (const auto& one : warm_optimization_table)
    if (on.*one.flag)
      names.append(names.empty() ? "" : between).append(one.name);
  return names;
}

/// Those that stand in a list with commas, and no others.
constexpr warm_optimizations only_named(std::string_view list) {
  warm_optimizations on;
  for (const auto& one : warm_optimization_table)
    on.*one.flag = false;
  while (!list.empty()) {
    const auto size = list.find(',');
    if (const auto* one = find_warm_optimization(list.substr(0, size)))
      on.*one->flag = true;
    list.remove_prefix(size == list.npos ? list.size() : size + 1);
  }
  return on;
}

} // namespace troupe
