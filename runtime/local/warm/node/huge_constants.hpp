#pragma once

namespace troupe::zygote {

/// Puts the constants of the program around this address of it on anonymous
/// huge pages, as far as they have been looked at. Returns how many pages.
int move_constants(const void* inside);

} // namespace troupe::zygote
