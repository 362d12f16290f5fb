#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

namespace troupe::inside {

/// Something below a folder.
struct walked {
  int folder; // that it lies in
  const char* name;
  const std::string& path; // below the folder where the walk began
  const struct stat& about;
};

enum class walk_step { into, over, stop };

/// Visits all that lies below a folder, each folder before what is in it.
/// Follows nothing; at the root what the kernel shows (/proc, /dev, /sys) is
/// passed over. What goes away meanwhile is not visited. 0 or errno; ELOOP: too
/// deep.
int walk_tree(int folder, const std::function<walk_step(const walked&)>& visit);

} // namespace troupe::inside
