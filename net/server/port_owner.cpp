#include "net/server/port_owner.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace troupe::net {

namespace fs = std::filesystem;

namespace {

/// The sockets that listen on a port, as links below /proc/PID/fd name them.
/// Whatever their address: what is in the way of one may listen on all.
std::set<std::string> listening_on(std::uint16_t port) {
  std::set<std::string> found;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines{table};
    std::string line;
    std::getline(lines, line); // the titles
    while (std::getline(lines, line)) {
      std::istringstream words{line};
      // sl local remote state queues timer retransmits uid timeout inode
      std::string index, local, remote, state, skipped, inode;
      words >> index >> local >> remote >> state >> skipped >> skipped
        >> skipped >> skipped >> skipped >> inode;
      const auto colon = local.rfind(':');
      if (state == "0A" && colon != local.npos
          && std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port)
        found.insert("socket:[" + inode + "]");
    }
  }
  return found;
}

bool has_one_of(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code failed;
  fs::directory_iterator i{process / "fd", failed};
  for (; !failed && i != fs::directory_iterator{}; i.increment(failed)) {
    std::error_code gone;
    if (sockets.contains(fs::read_symlink(i->path(), gone).string()))
      return true;
  }
  return false;
}

} // namespace

std::string port_owner(const boost::asio::ip::tcp::endpoint& at) {
  const auto sockets = listening_on(at.port());
  std::error_code failed;
  fs::directory_iterator i{"/proc", failed};
  for (; !sockets.empty() && !failed && i != fs::directory_iterator{};
       i.increment(failed)) {
    const auto pid = i->path().filename().string();
    if (!std::all_of(pid.begin(), pid.end(),
                     [](char c) { return c >= '0' && c <= '9'; })
        || !has_one_of(i->path(), sockets))
      continue;
    std::ifstream comm{i->path() / "comm"};
    std::string name;
    std::getline(comm, name);
    return name + " (pid " + pid + ")";
  }
  return {};
}

} // namespace troupe::net
