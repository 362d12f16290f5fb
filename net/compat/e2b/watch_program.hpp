#pragma once

#include "runtime/engine/sandbox_engine.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Changes in a folder of a sandbox, which a program inside of it sees and
/// tells line by line: no path of a tenant is watched from outside.
namespace troupe::net::e2b_facade {

/// The arguments of that program.
std::vector<std::string> watch_command(const std::string& path,
                                       bool with_folders_below);

/// How it ends when there is nothing to watch.
inline constexpr std::int32_t watch_no_folder = 3;
inline constexpr std::int32_t watch_not_found = 4;

/// What one of its lines says: that the watches stand, or what changed.
struct watch_line {
  bool ready = false;
  std::string name; // below the folder
  std::string type; // EVENT_TYPE_...
};
std::optional<watch_line> parse_watch_line(std::string_view line);
/// {"name":"a.txt","type":"EVENT_TYPE_CREATE"}
std::string to_json(const watch_line& line);

/// The lines of that program, as far as they have come.
class watch_reader {
public:
  explicit watch_reader(sandbox_program_ptr program)
      : program_{std::move(program)} {}

  /// The next one, if it is there.
  std::optional<watch_line> next();
  /// Lines were lost, since they were not read in time.
  bool lost() const { return lost_; }
  output_offsets read() const { return from_; }
  const sandbox_program_ptr& program() const { return program_; }

private:
  const sandbox_program_ptr program_;
  output_offsets from_;
  std::string held_;
  bool lost_ = false;
};

} // namespace troupe::net::e2b_facade
