#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/engine/kernel_image.hpp"
#include "runtime/local/sandbox/contexts/kernel_program.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace troupe {

/// The memory of an interpreter of this machine, in a file that nobody writes
/// to any more. It goes with the last of those that began from it.
class local_image final : public kernel_image {
public:
  local_image(unique_fd file, std::uint64_t bytes)
      : file_{std::move(file)}, bytes_{bytes} {}
  std::uint64_t bytes() const override { return bytes_; }

  /// What is executed, with the image as its input.
  static result<kernels::program> program();
  static unique_fd open(const kernel_image_ptr& image);
  /// Of one that could not begin; "": it says that itself.
  static std::string why_ended(int exit_code);
  /// It has got the number of a process that its memory was in before.
  static bool needs_another(int exit_code);

private:
  const unique_fd file_;
  const std::uint64_t bytes_;
};

} // namespace troupe
