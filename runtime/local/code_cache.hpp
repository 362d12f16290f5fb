#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/local/launch/launcher.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace troupe {

/// Compiled sources by what they were made from. Buys: a fresh process that is
/// handed code need not parse, nor touch what the parser touches; for
/// TypeScript it need not even load the transpiler. The code comes from a
/// process that compiled and ran nothing, and serves the organization that
/// sent the source, no other.
class code_cache {
public:
  struct bounds {
    std::size_t entries = 2'000;
    std::size_t bytes = 64u << 20;
    /// Sources that come once are compiled where they run.
    std::uint32_t sightings = 2;
  };

  code_cache() = default;
  explicit code_cache(bounds limit) : limit_{limit} {}

  static std::string key_of(const prepared_run& run);

  /// The code, or "". Counts the sighting.
  std::string_view find(const std::string& key);
  /// Code of V8 is for the options that its Node was started with, and a
  /// forked run's Node has others than one that is started for its run. With
  /// the wrong ones it is still a source without types, parsed by every run.
  enum class options : std::uint8_t { none, of_a_start, of_a_fork };
  /// What a run by this carrier needs.
  static options options_of(const prepared_run& run, const launcher& by);
  /// Whether somebody should compile it now; true once, and once more when
  /// what was compiled for a start is forked.
  bool wants(const std::string& key, options by);
  /// "": it does not compile. That is remembered as well.
  void put(const std::string& key, std::string code);

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

private:
  struct entry {
    std::string key;
    std::string code;
    std::uint32_t seen = 0;
    options asked = options::none;
  };
  void trim();

  bounds limit_;
  std::list<entry> entries_; // the latest used first
  std::unordered_map<std::string, std::list<entry>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

/// The same source, to be compiled in a process that sees nothing else of the
/// run, but in the same kind of place.
prepared_run_ptr compile_request(const prepared_run& like);
/// Ignores all events.
run_observer_ptr silent_observer();

} // namespace troupe
