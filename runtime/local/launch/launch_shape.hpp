#pragma once

#include "runtime/local/launch/launcher.hpp"

#include <string>

namespace troupe::zygote {

/// What two runs must have in common to follow each other in one slot: the
/// organization, and everything that is fixed when the slot is made. Equal
/// keys, equal slots; the text has no other meaning.
std::string slot_key(const launch& what);

/// The same without the organization.
std::string shape_key(const launch& what);

} // namespace troupe::zygote
