#pragma once

#include <cstdint>
#include <memory>

namespace troupe {

/// An interpreter as it was between two cells, with all that was defined in it:
/// others begin as that one, each for itself. Nothing of it changes any more.
class kernel_image {
public:
  virtual ~kernel_image() = default;
  /// Of memory that those who begin from it share.
  virtual std::uint64_t bytes() const = 0;
};
using kernel_image_ptr = std::shared_ptr<const kernel_image>;

} // namespace troupe
