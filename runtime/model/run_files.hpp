#pragma once

#include "runtime/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// A file that a run finds in its directory.
struct run_file {
  std::string name; // below the directory: "data/in.csv"
  std::string content;

  friend bool operator==(const run_file&, const run_file&) = default;
};

/// A file that a run left there and was asked for.
struct output_file {
  std::string name;
  std::string media_type; // by its name
  std::uint64_t size = 0;
  std::string content; // unless `is_kept`
  /// Too large for an answer: it is fetched by its name, for a while.
  bool is_kept = false;

  friend bool operator==(const output_file&, const output_file&) = default;
};

/// One value that a program showed, in each form that it has: media type and
/// bytes.
using display_bundle = std::vector<std::pair<std::string, std::string>>;

/// How many files a run may have, and how large they may be together.
struct file_bounds {
  std::size_t count = 100; // in, and out: each is opened and told by its name
  std::uint64_t bytes_in = 8u << 20;   // as base64 they fit into a body
  std::uint64_t bytes_out = 16u << 20; // held in memory until they are answered
};

/// What a program may show beside its value; more belongs into a file.
inline constexpr std::size_t max_display_bytes = 4u << 20;

/// Names go below the run's directory: no "..", nothing absolute.
result<void> check_file_name(std::string_view name, const std::string& pointer);
/// The same for a pattern: `*`, `?`, `[...]` in a name, `**` for directories.
result<void> check_output_pattern(std::string_view pattern,
                                  const std::string& pointer);

/// By the end of the name; "application/octet-stream" where it says nothing.
std::string_view media_type_of(std::string_view name);

/// Whether bytes can stand in JSON as they are.
bool is_plain_text(std::string_view bytes);

} // namespace troupe
