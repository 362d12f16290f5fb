#pragma once

#include "runtime/model/limits.hpp"

#include <span>

/// What hostile tools do, rather than ask for, and how such a run ends.
namespace troupe::test {

/// How little a run is given.
namespace allowing {
inline void little_memory(limits& l) {
  l.memory_bytes = 128u << 20;
  l.disk_bytes = 1u << 30;
}
inline void little_disk(limits& l) {
  l.disk_bytes = 2u << 20;
}
inline void few_files(limits& l) {
  l.inodes = 64;
}
inline void few_processes(limits& l) {
  l.processes = 24;
  l.wall = std::chrono::seconds{10};
}
/// Of those that go on at their limit for as long as they may.
inline void few_processes_and_time(limits& l) {
  l.processes = 24;
  l.wall = std::chrono::seconds{2};
}
inline void little_time(limits& l) {
  l.wall = std::chrono::milliseconds{400};
}
inline void little_cpu(limits& l) {
  l.cpu = std::chrono::milliseconds{1'000};
}
inline void little_result(limits& l) {
  l.result_bytes = 64u << 10;
}
inline void any(limits&) {}
inline void little_output(limits& l) {
  l.output_bytes = 10'000;
}
} // namespace allowing

struct behaviour {
  const char* name;
  const char* rule; // of docs/reference/rules.md
  void (*narrow)(limits&);
  const char* reason; // "|" between several; "=" and a value, or *: success
  const char* layer;  // needed on the host, "": none
  const char* python; // the body of f; "": not said in this language
  const char* node;
  const char* shell;
};

/// Against the limits, and against the end.
std::span<const behaviour> behaviours();
/// Against the result.
std::span<const behaviour> result_behaviours();
/// Against what a run may use, by forgotten ways.
std::span<const behaviour> appetite_behaviours();

} // namespace troupe::test
