#pragma once

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

/// One request, one answer, as simply as it can be done.
inline std::string ask(const std::string& address, const std::string& head,
                       const std::string& body = {},
                       const std::string& fields = {}) {
  auto port = std::stoi(address.substr(address.rfind(':') + 1));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval patience{60, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  BOOST_REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to)
                == 0);
  auto text = head + " HTTP/1.1\r\nHost: " + address
    + "\r\nConnection: close\r\nContent-Type: application/json\r\n"
      "Content-Length: "
    + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
  BOOST_REQUIRE(::send(fd, text.data(), text.size(), MSG_NOSIGNAL)
                == static_cast<ssize_t>(text.size()));
  std::string answer;
  char some[4096];
  for (ssize_t n; (n = ::recv(fd, some, sizeof some, 0)) > 0;)
    answer.append(some, static_cast<std::size_t>(n));
  ::close(fd);
  return answer;
}

} // namespace troupe
