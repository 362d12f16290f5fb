#pragma once

#include "runtime/local/launch/cold_launcher.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace troupe {

/// What sandboxes of this machine have written and others are made from, all of
/// it together. It lies in memory.
struct layer_use {
  std::uint64_t bytes = 0;
  std::uint64_t most = 0;

  std::uint64_t left() const { return most > bytes ? most - bytes : 0; }
};

/// What one sandbox had written at one moment. The warden holds it until
/// nothing is made from it any more.
class sandbox_layer {
public:
  sandbox_layer(std::shared_ptr<cold_launcher> wardens,
                std::shared_ptr<layer_use> use, std::uint64_t number,
                std::uint64_t bytes)
      : wardens_{std::move(wardens)}, use_{std::move(use)}, number_{number},
        bytes_{bytes} {
    use_->bytes += bytes_;
  }
  ~sandbox_layer() {
    use_->bytes -= bytes_;
    wardens_->drop_layer(number_);
  }
  sandbox_layer(const sandbox_layer&) = delete;
  sandbox_layer& operator=(const sandbox_layer&) = delete;

  std::uint64_t number() const { return number_; }
  std::uint64_t bytes() const { return bytes_; }

private:
  const std::shared_ptr<cold_launcher> wardens_;
  const std::shared_ptr<layer_use> use_;
  const std::uint64_t number_; // the warden's name of it
  const std::uint64_t bytes_;
};

/// The top one first.
using layer_stack = std::vector<std::shared_ptr<const sandbox_layer>>;

inline std::uint64_t bytes_of(const layer_stack& stack) {
  std::uint64_t all = 0;
  for (const auto& each : stack)
    all += each->bytes();
  return all;
}

} // namespace troupe
