#include "runtime/local/sandbox/hand_errors.hpp"

#include "runtime/json/printable.hpp"

#include <cerrno>
#include <cstring>

namespace troupe {

using inside::hand_message;
using inside::hand_word;

namespace {

ec code_of(int error) {
  switch (error) {
  case ENOENT:
    return ec::not_found;
  case ENOSPC:
  case EDQUOT:
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return ec::exhausted;
  case EACCES:
  case EPERM:
  case EROFS:
    return ec::denied;
  case ESTALE:
    return ec::conflict;
  default:
    return ec::invalid_request;
  }
}

std::string reason_of(hand_word asked, int number) {
  switch (number) {
  case ENOSPC:
    return asked == hand_word::watch
      ? "more folders than the sandbox may watch; watch fewer"
      : "disk_limit: the sandbox's disk is full; remove files or raise its "
        "limits of bytes and inodes";
  case ENXIO:
    return "it is neither a file nor a folder";
  case EXDEV:
    return asked == hand_word::unpack
      ? "it leads out of the folder"
      : "a folder of the template cannot be moved; copy it";
  case EBUSY:
    return "the root and what is mounted stay where they are";
  case EBADMSG:
    return "what came is no tar archive, or not a whole one";
  case ESTALE:
    return "a file in it became shorter while it was read; try again";
  default:
    return std::strerror(number);
  }
}

} // namespace

error hand_refusal(hand_word asked, int number, const std::string& path) {
  return fail(code_of(number),
              "path: '" + printable(path) + "': " + reason_of(asked, number));
}

hand_message about(hand_word what, std::string path) {
  hand_message m;
  m.what = what;
  m.path = std::move(path);
  return m;
}

} // namespace troupe
