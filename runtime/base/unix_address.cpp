#include "runtime/base/unix_address.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace troupe {

result<unix_address> unix_address::of(const std::filesystem::path& socket) {
  unix_address made;
  auto text = socket.string();
  if (text.size() >= sizeof made.at_.sun_path) {
    made.directory_.reset(
      ::open(socket.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.directory_)
      return fail(ec::unavailable,
                  "open " + socket.parent_path().string() + ": "
                    + std::generic_category().message(errno));
    text = "/proc/self/fd/" + std::to_string(made.directory_.get()) + "/"
      + socket.filename().string();
    if (text.size() >= sizeof made.at_.sun_path)
      return bad_request("the name of the socket is too long: "
                         + socket.filename().string());
  }
  made.at_.sun_family = AF_UNIX;
  std::copy(text.begin(), text.end(), made.at_.sun_path);
  return made;
}

int connect_to(const unix_address& socket) {
  unique_fd made{
    ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!made || ::connect(made.get(), socket.data(), socket.size()) != 0)
    return -1; // errno: closing a socket that is not connected sets none
  return made.release();
}

} // namespace troupe
