#pragma once

#include "runtime/local/isolation/cgroup_files.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

/// What a process and its instance have, for tests that look for leaks.
namespace troupe::test {

inline std::size_t from_environment(const char* name, std::size_t otherwise) {
  const char* text = ::getenv(name);
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 10);
}

inline std::size_t entries(const std::filesystem::path& directory) {
  std::error_code code;
  return static_cast<std::size_t>(
    std::distance(std::filesystem::directory_iterator(directory, code), {}));
}

inline std::uint64_t status_number(std::string_view field) {
  auto text = isolation::read_text("/proc/self/status").value_or("");
  auto at = text.find(field);
  return at == text.npos
    ? 0
    : std::strtoull(text.c_str() + at + field.size(), nullptr, 10);
}

inline std::vector<std::string> groups_of(const std::string& instance) {
  std::ifstream file{instance + "/cgroups"};
  std::vector<std::string> paths;
  for (std::string line; std::getline(file, line);)
    paths.push_back(line);
  return paths;
}

struct footprint {
  std::size_t descriptors = entries("/proc/self/fd");
  std::size_t threads = entries("/proc/self/task");
  std::uint64_t memory_kib = status_number("VmRSS:\t");
  std::ptrdiff_t mounts = std::ranges::count(
    isolation::read_text("/proc/self/mountinfo").value_or(""), '\n');
  std::string children
    = isolation::read_text("/proc/thread-self/children").value_or("");
};

inline std::size_t groups_made(local_host& host) {
  std::size_t count = 0;
  for (const auto& g : groups_of(host.backend().instance_directory()))
    for (const auto& entry : std::filesystem::directory_iterator(g))
      count += entry.is_directory() ? 1u : 0u;
  return count;
}

inline void check_rest(const footprint& before, const footprint& after,
                       const std::string& what) {
  BOOST_TEST_CONTEXT(what) {
    // Fewer, when hosts of other cases let go of slots that were not used.
    BOOST_TEST(after.descriptors <= before.descriptors);
    BOOST_TEST(after.threads == before.threads);
    BOOST_TEST(after.mounts == before.mounts);
    BOOST_TEST(after.children == before.children);
  }
}

} // namespace troupe::test
