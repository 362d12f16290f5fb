#pragma once

#include "runtime/base/error.hpp"

#include <cstddef>
#include <string>

namespace troupe {

/// A file that settings come from, as it was when it was opened.
struct source_file {
  std::string text;         // may hold secrets: the reader wipes it
  bool open_to_all = false; // every user of this machine may read or change it
};

/// More than `limit` bytes are an error. ec::not_found: no such file; anything
/// else: it is there, but cannot be read.
result<source_file> read_source(const std::string& path, std::size_t limit);

} // namespace troupe
