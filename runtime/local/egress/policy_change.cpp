// Another policy for a tool that goes on: what it has open and may not have any
// more is shut down. The sockets are the tool's own, so they are looked for in
// its processes, which are those of its network.
#include "runtime/local/egress/syscall_handler.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace troupe::network {

namespace {

/// More than the tables of a sandbox's processes hold; what is beyond stays
/// open.
constexpr std::size_t most_looked_at = 65'536;

struct directory_closer {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

std::string link_text(const std::string& path) {
  std::array<char, 128> text{};
  const auto size = ::readlink(path.c_str(), text.data(), text.size());
  return size > 0 ? std::string{text.data(), static_cast<std::size_t>(size)}
                  : std::string{};
}

/// The names in a directory that are numbers.
template <class Each>
void each_number(const std::string& path, Each each) {
  const std::unique_ptr<DIR, directory_closer> all{::opendir(path.c_str())};
  while (const auto* entry = all ? ::readdir(all.get()) : nullptr)
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
      each(std::string{entry->d_name});
}

/// Who it talks to, other than our own nameserver.
std::optional<endpoint> peer_of(int socket) {
  sockaddr_storage other{};
  socklen_t size = sizeof other;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&other), &size) != 0)
    return std::nullopt;
  auto peer = read_endpoint(other, size);
  if (peer && unmapped(peer->address) == resolver::address())
    return std::nullopt;
  return peer;
}

} // namespace

void syscall_handler::remember_network(const notified_syscall& call) {
  if (tool_network_.empty())
    tool_network_
      = link_text("/proc/" + std::to_string(call.thread()) + "/ns/net");
}

void syscall_handler::change(const network_policy& policy) {
  auto fresh = std::make_shared<judge>(policy, options_, told_);
  if (judge_)
    fresh->learn_from(*judge_);
  judge_ = std::move(fresh);
  resolver_->go_on_for(judge_);
  guard(policy);
  shut_forbidden();
}

void syscall_handler::shut_forbidden() {
  std::size_t seen = 0;
  const auto look_at = [&](int process, int number) {
    tool_socket s;
    s.fd = unique_fd{
      static_cast<int>(::syscall(SYS_pidfd_getfd, process, number, 0))};
    const auto peer = s.fd ? peer_of(s.fd.get()) : std::nullopt;
    if (peer && !is_inside(s)
        && !judge_->consider(peer->address, peer->port, judge::clock::now())
              .allowed)
      ::shutdown(s.fd.get(), SHUT_RDWR);
  };
  const auto look_into = [&](const std::string& thread, unsigned of_thread) {
    const auto place = "/proc/" + thread;
    if (link_text(place + "/ns/net") != tool_network_)
      return false;
    const unique_fd opened{static_cast<int>(
      ::syscall(SYS_pidfd_open, std::atoi(thread.c_str()), of_thread))};
    each_number(place + "/fd", [&](const std::string& number) {
      if (opened && ++seen <= most_looked_at
          && link_text(place + "/fd/" + number).starts_with("socket:"))
        look_at(opened.get(), std::atoi(number.c_str()));
    });
    return true;
  };
  if (tool_network_.empty())
    return; // it has never asked for anything
  each_number("/proc", [&](const std::string& process) {
    // A process whose first thread has ended is reached by another one, from
    // Linux 6.9 on.
    if (link_text("/proc/" + process + "/ns/net").empty())
      each_number("/proc/" + process + "/task",
                  [&, done = false](const std::string& thread) mutable {
                    done = done || look_into(thread, O_EXCL);
                  });
    else
      look_into(process, 0);
  });
}

} // namespace troupe::network
