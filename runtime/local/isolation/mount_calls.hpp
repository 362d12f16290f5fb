#pragma once

#include <sys/mount.h> // MOUNT_ATTR_*

#include <array>
#include <cstdint>

namespace troupe::isolation {

// The kernel's mount calls as this room uses them: by descriptor, errno set on
// failure, nothing allocated.

struct mount_option {
  const char* name;
  const char* value;
};

/// A detached copy of what is mounted at `path`, with what is mounted below it
/// if `deep`. `exactly`: no part of the path may be a link.
int copy_mount(const char* path, bool deep, bool exactly = false) noexcept;

/// The same of a path below a mount, of that one alone.
int copy_mount_at(int mount, const char* path) noexcept;

/// A new, detached file system. A null name ends the options.
int new_mount(const char* type, std::uint64_t attributes,
              const std::array<mount_option, 4>& options) noexcept;

bool set_attributes(int mount, std::uint64_t set, bool deep) noexcept;
bool attach(int mount, const char* path) noexcept;
bool detach(const char* path) noexcept;

/// Nothing that is mounted from here on is seen outside, nor the other way.
bool make_private() noexcept;
/// The current directory becomes the root, the old root lies on top of it.
bool pivot_here() noexcept;

} // namespace troupe::isolation
