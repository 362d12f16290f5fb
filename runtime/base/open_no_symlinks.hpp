#pragma once

namespace troupe::isolation {

/// Opens what stands at `path`, for naming it only, if not one part of the
/// path is a link: another user may own a parent directory, and change it
/// after it was looked at. -1 with errno set, ELOOP for a link.
int open_exactly(const char* path) noexcept;

} // namespace troupe::isolation
