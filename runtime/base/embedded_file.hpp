#pragma once

#include <span>
#include <string_view>

namespace troupe {

/// A file that was compiled into this binary (cmake/embed_files.cmake).
struct embedded_file {
  std::string_view path; // relative, with '/'
  std::string_view text;
};

} // namespace troupe
