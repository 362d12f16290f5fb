#pragma once

#include "runtime/local/interpreters.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/network_policy.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace troupe {

/// How environments are built and kept.
struct environment_options {
  /// Builds for the interpreters that runs have, with the npm beside Node.
  void use(const interpreters& those);

  std::filesystem::path root;              // where they live
  std::uint64_t max_bytes = 10ull << 30;   // beyond: the least used one goes
  std::chrono::seconds build_timeout{600}; // pip with a slow mirror
  std::uint64_t build_memory_bytes = 2ull << 30;
  /// Of one environment on the host's disk, and what must stay free there.
  std::uint64_t build_bytes = 4ull << 30;
  std::uint64_t build_inodes = 500'000;
  std::uint64_t reserve_bytes = 512ull << 20;
  std::chrono::milliseconds look_every{1'000}; // at what builds take
  std::size_t max_builds = 4;       // at a time; each may take all of the above
  std::size_t max_waiting = 10'000; // runs that wait for builds
  std::string python = "/usr/bin/python3";
  std::string node = "/usr/bin/node";
  std::string npm = "/usr/bin/npm";
  std::string pip_index_url;       // "": the installer's own default
  std::string npm_registry;        // the same
  bool pip_index = true;           // false: only pip_links
  std::filesystem::path pip_links; // a directory of wheels
  std::filesystem::path npm_links; // a directory of `npm pack` tarballs
  bool source_builds = false;      // wheels only: no code runs at install
  network_policy network;          // of all runs; see install_network.hpp
  isolation_level isolation = isolation_level::standard; // the engine's least
  /// What a config that names no sandbox_dir has been given. Where it is not
  /// shared it means nothing: no tenant asked for it.
  std::filesystem::path standard_dir;
  /// Only directories below these may be a config's sandbox_dir: the text
  /// comes from a tenant. Read-only, unless below a writable one in the
  /// directory of the tenant's own: `<writable>/<organization>`. What else is
  /// there is the default organization's.
  std::vector<std::filesystem::path> shared_dirs;
  std::vector<std::filesystem::path> writable_dirs;
};

} // namespace troupe
