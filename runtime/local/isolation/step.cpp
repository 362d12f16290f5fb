#include "runtime/local/isolation/step.hpp"

#include <cerrno>

namespace troupe::isolation {

std::string_view to_string(step s) noexcept {
  switch (s) {
  case step::none:
    return "none";
  case step::order:
    return "order";
  case step::cgroup:
    return "cgroup";
  case step::namespaces:
    return "namespaces";
  case step::death_signal:
    return "death_signal";
  case step::open_sources:
    return "open_sources";
  case step::identity_map:
    return "identity_map";
  case step::tree:
    return "tree";
  case step::bind:
    return "bind";
  case step::devices:
    return "devices";
  case step::scratch:
    return "scratch";
  case step::proc:
    return "proc";
  case step::pivot:
    return "pivot";
  case step::session:
    return "session";
  case step::rlimits:
    return "rlimits";
  case step::bounding_set:
    return "bounding_set";
  case step::securebits:
    return "securebits";
  case step::no_new_privs:
    return "no_new_privs";
  case step::identity:
    return "identity";
  case step::capabilities:
    return "capabilities";
  case step::undumpable:
    return "undumpable";
  case step::landlock:
    return "landlock";
  case step::seccomp:
    return "seccomp";
  case step::listener:
    return "listener";
  case step::descriptors:
    return "descriptors";
  case step::spawn:
    return "spawn";
  case step::exec:
    return "exec";
  }
  return "unknown";
}

outcome failed(step at) noexcept {
  return {at, errno};
}

} // namespace troupe::isolation
