#pragma once

#include "net/compat/e2b/facade.hpp"
#include "runtime/base/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// What a name in a sandbox's tree is, as clients are told.
namespace troupe::net::e2b_facade {

struct entry_info {
  std::string path;
  char kind = '?';   // as find(1) tells it: f, d, l, p, s, b, c
  char target = '?'; // the same of what a link leads to; N: nothing
  std::uint32_t mode = 0;
  std::uint32_t target_mode = 0;
  std::string owner;
  std::string group;
  std::uint64_t bytes = 0;
  std::string modified; // seconds since 1970, with a fraction
  std::string link;     // absolute, of a link

  bool is_folder() const { return target == 'd'; }
};

/// {"name", "type", "path", ...}
std::string to_json(const entry_info& e);

/// The arguments of the program that tells of `path` and, with a depth, of what
/// is in it.
std::vector<std::string> entry_command(const std::string& path, unsigned depth);
/// What that program said. In the order of names, a folder before what is in
/// it.
result<std::vector<entry_info>> parse_entries(std::string_view said);

/// "drwxr-xr-x", as the vendor's server writes it.
std::string permissions_of(const entry_info& e);

/// Of the path itself for depth 0, else of what is in it. `not_found` where
/// there is nothing.
void find_entries(facade& shared, const visit& in, const std::string& path,
                  unsigned depth,
                  sandbox_handler<std::vector<entry_info>> then);

} // namespace troupe::net::e2b_facade
