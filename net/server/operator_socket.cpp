#include "net/server/operator_socket.hpp"

#include "runtime/base/unix_address.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace troupe::net {

namespace {

// Of an operator's commands; the kernel lets more of them wait.
constexpr int waiting_operators = 64;

error refused(const std::filesystem::path& socket, std::string_view doing) {
  return fail(ec::unavailable,
              std::string{doing} + " " + socket.string() + ": "
                + std::generic_category().message(errno));
}

} // namespace

result<unique_fd> open_operator_socket(const std::filesystem::path& socket) {
  auto at = unix_address::of(socket);
  if (!at)
    return at.error();
  struct stat there {};
  if (::lstat(socket.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode))
      return fail(ec::conflict, socket.string() + " is not a socket");
    if (::unlink(socket.c_str()) != 0)
      return refused(socket, "replace");
  }
  unique_fd made{
    ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!made || ::bind(made.get(), at->data(), at->size()) != 0)
    return refused(socket, "make the socket");
  // Before it listens none can connect, whatever the umask was.
  if (::chmod(at->path(), S_IRUSR | S_IWUSR) != 0
      || ::listen(made.get(), waiting_operators) != 0)
    return refused(socket, "listen on");
  return made;
}

bool is_operator_process(int connected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
    && (peer.uid == 0 || peer.uid == ::geteuid());
}

} // namespace troupe::net
