#pragma once

#include "runtime/local/warm/protocol.hpp"

namespace troupe::zygote {

/// Descriptors that came with a packet, or go with one. Plain numbers: used
/// by the engine and inside the interpreter alike.
struct descriptors {
  int fd[max_descriptors];
  int count = 0;

  void close_all();
};

enum class received : int { packet, nothing, closed };

/// One packet, blocking only if `wait`. A foreign one counts as `closed`.
/// What is received is close-on-exec.
received receive(int socket, packet& in, descriptors& with, bool wait);

/// One packet with `count` descriptors beside it, which stay the caller's.
bool send(int socket, const packet& out, const int* with = nullptr,
          int count = 0);

} // namespace troupe::zygote
