#pragma once

#include "storage/database/database.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>

namespace troupe::tests {

/// The value of a result, or a failed test that shows the error.
template <class T>
T must(result<T> r) {
  if (!r)
    BOOST_FAIL(to_string(r.error()));
  return std::move(*r);
}
inline void must(const result<void>& r) {
  if (!r)
    BOOST_FAIL(to_string(r.error()));
}

template <class T>
ec code_of(const result<T>& r) {
  BOOST_REQUIRE(!r);
  return r.error().code;
}

template <class T>
std::string text_of(const result<T>& r) {
  BOOST_REQUIRE(!r);
  return r.error().text;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Printed, so that a failing round can be played again: TROUPE_SEED=...
inline std::uint64_t seed() {
  static const std::uint64_t chosen = [] {
    const char* given = std::getenv("TROUPE_SEED");
    auto s = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    BOOST_TEST_MESSAGE("TROUPE_SEED=" << s);
    return s;
  }();
  return chosen;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_file(const std::filesystem::path& file,
                       const std::string& content) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << content;
}

inline void copy_directory(const std::filesystem::path& from,
                           const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

/// Everything in one column.
inline std::map<std::string, std::string> content(const database& db,
                                                  column where) {
  std::map<std::string, std::string> all;
  must(db.scan(where, {}, [&](auto key, auto value) -> result<bool> {
    all.emplace(key, value);
    return true;
  }));
  return all;
}

} // namespace troupe::tests
