#pragma once

#include "runtime/model/limits.hpp"

#include <span>

/// What hostile tools do, rather than ask for, and how such a run ends.
namespace troupe::test {

struct behaviour {
  const char* name;
  const char* rule; // of security.md
  void (*narrow)(limits&);
  const char* reason; // "|" between several; "=" and a value, or *: success
  const char* layer;  // needed on the host, "": none
  const char* python; // the body of f; "": not said in this language
  const char* node;
  const char* shell;
};

/// Against the limits, and against the end.
std::span<const behaviour> behaviours();

} // namespace troupe::test
