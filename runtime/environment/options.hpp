#pragma once

#include "runtime/model/network_policy.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace troupe {

/// How environments are built and kept.
struct environment_options {
  std::filesystem::path root;              // where they live
  std::uint64_t max_bytes = 10ull << 30;   // beyond: the least used one goes
  std::chrono::seconds build_timeout{600}; // pip with a slow mirror
  std::uint64_t build_memory_bytes = 2ull << 30;
  std::size_t max_waiting = 10'000; // runs that wait for builds
  std::string python = "/usr/bin/python3";
  std::string npm = "/usr/bin/npm";
  std::string pip_index_url;       // "": the installer's own default
  std::string npm_registry;        // the same
  bool pip_index = true;           // false: only pip_links
  std::filesystem::path pip_links; // a directory of wheels
  std::filesystem::path npm_links; // a directory of `npm pack` tarballs
  bool source_builds = false;      // wheels only: no code runs at install
  network_policy network;          // of the installer; public by default
  /// What a config that names no sandbox_dir has been given. Where it is not
  /// shared it means nothing: no tenant asked for it.
  std::filesystem::path standard_dir;
  /// Only directories below these may be a config's sandbox_dir: the text
  /// comes from a tenant. Read-only unless listed as writable.
  std::vector<std::filesystem::path> shared_dirs;
  std::vector<std::filesystem::path> writable_dirs;
};

} // namespace troupe
