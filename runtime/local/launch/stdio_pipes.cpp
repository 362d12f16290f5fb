#include "runtime/local/launch/launcher.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe {

namespace {

bool make_pipe(unique_fd& ours, unique_fd& its) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  ours.reset(ends[0]);
  its.reset(ends[1]);
  return true;
}

bool make_channel(unique_fd& ours, unique_fd& its) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  ours.reset(ends[0]);
  its.reset(ends[1]);
  return true;
}

} // namespace

bool make_stdio(launch& what, parent_fds& ours, bool with_channel) {
  return make_pipe(ours.out, what.out) && make_pipe(ours.err, what.err)
    && (!with_channel || make_channel(ours.channel, what.channel));
}

} // namespace troupe
