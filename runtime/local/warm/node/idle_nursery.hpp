#pragma once

namespace troupe::zygote {

/// Gives back the pages of V8's nursery in which nothing lives. All of it that
/// is free must have been filled with arrays of `number`. Returns how many
/// pages those were.
int drop_idle_nursery(double number);

} // namespace troupe::zygote
