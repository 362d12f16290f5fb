#pragma once

namespace troupe::isolation {

/// Opens what stands at `path`, for naming it only, if not one part of the
/// path is a link: somebody else may own what lies on the way, and change it
/// after it was looked at. -1 with errno set, ELOOP for a link.
int open_exactly(const char* path) noexcept;

} // namespace troupe::isolation
