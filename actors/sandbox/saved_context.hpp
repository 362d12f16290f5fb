#pragma once

#include "runtime/engine/kernel_image.hpp"
#include "runtime/model/sandbox_context.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace troupe {

/// A context as it was at one moment, for one that goes on from there in
/// another sandbox: under the same name, in which it is the only one.
struct saved_context {
  std::string id;
  context_spec what;
  bool is_default = false;
  std::uint64_t execution_count = 0;
  kernel_image_ptr image;
  environment env; // over its variables
};
using saved_context_ptr = std::shared_ptr<const saved_context>;

} // namespace troupe
