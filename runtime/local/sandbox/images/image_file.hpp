#pragma once

#include "runtime/base/unique_fd.hpp"

#include <cstddef>
#include <string_view>

namespace troupe::images {

/// Whether a process can be saved on this machine.
bool available();

/// What saves the process that calls it. It needs nothing but itself, wherever
/// it is copied to.
struct saving_code {
  std::string_view bytes;
  std::size_t entry = 0; // of `image_save`
};
saving_code code();

/// The beginning of an image: the program that will restore it. Empty with
/// errno set.
unique_fd new_image();

/// Nobody writes to it from here on.
bool seal(const unique_fd& image);

/// A descriptor of its own for who is to be restored from it: it shares neither
/// a position nor flags with any other.
unique_fd reopen(const unique_fd& image);

} // namespace troupe::images
