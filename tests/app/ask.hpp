#pragma once

#include "tests/support/http/raw_http.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

/// What tests of a serving process share.
namespace troupe {

struct temporary_folder {
  std::filesystem::path path;
  temporary_folder() {
    auto name = (std::filesystem::temp_directory_path() / "troupe-host-XXXXXX")
                  .string();
    BOOST_REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~temporary_folder() {
    // What a killed engine leaves is being removed by its warden, too.
    std::error_code failed;
    for (int i = 0; i < 100 && std::filesystem::exists(path); ++i)
      std::filesystem::remove_all(path, failed);
  }
};

/// Of "127.0.0.1:8283".
inline std::uint16_t port_in(const std::string& address) {
  return static_cast<std::uint16_t>(
    std::stoi(address.substr(address.rfind(':') + 1)));
}

/// One request, as "GET /livez"; the head and the body of its answer.
inline std::string ask(const std::string& address, const std::string& request,
                       const std::string& body = {},
                       const std::string& fields = {}) {
  const auto space = request.find(' ');
  auto a = test::ask(port_in(address), request.substr(0, space),
                     request.substr(space + 1), body, fields, 60'000);
  return a.head + "\r\n\r\n" + a.body;
}

} // namespace troupe
