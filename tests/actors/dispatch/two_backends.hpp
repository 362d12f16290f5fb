#pragma once

#include "tests/actors/stepped_engine.hpp"

#include <memory>
#include <utility>

namespace troupe::test {

/// A local backend and E2B, which goes first.
struct two_backends : stepped_engine {
  std::shared_ptr<scripted_backend> e2b;

  explicit two_backends(engine_options options = {})
      : two_backends{std::make_shared<scripted_backend>(backend_kind::e2b),
                     std::move(options)} {}
  two_backends(std::shared_ptr<scripted_backend> far, engine_options options)
      : stepped_engine{scripted_backend::mode::answer,
                       with(far, std::move(options))},
        e2b{std::move(far)} {}

  static engine_options with(std::shared_ptr<backend> far,
                             engine_options options) {
    options.backends.push_back(std::move(far));
    return options;
  }
};

} // namespace troupe::test
