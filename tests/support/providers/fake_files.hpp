#pragma once

#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_provider.hpp"

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

/// What stand-ins do with files: all of it for real.
namespace troupe::test {

inline std::optional<std::string> slurp(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in || !std::filesystem::is_regular_file(path))
    return {};
  return std::string{std::istreambuf_iterator<char>{in}, {}};
}

/// With the folders on its way.
inline bool spill(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream out{path, std::ios::binary};
  out << bytes;
  return static_cast<bool>(out.flush());
}

/// Whether a body has no member but these, and the first `needed` of them.
inline bool has_only(const json::object& body, std::size_t needed,
                     std::initializer_list<std::string_view> known) {
  std::size_t n = 0;
  for (auto name : known)
    if (n++ < needed && !body.contains(name))
      return false;
  for (const auto& [name, value] : body)
    if (std::find(known.begin(), known.end(), std::string_view{name})
        == known.end())
      return false;
  return true;
}

/// The same of a query.
inline bool asks_only(const stand_request& r, std::size_t needed,
                      std::initializer_list<std::string_view> known) {
  json::object names;
  for (const auto& [name, value] : r.query)
    names[name] = nullptr;
  return has_only(names, needed, known);
}

} // namespace troupe::test
