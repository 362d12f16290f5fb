#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/backend.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe::script {

/// What `build_remote_script` makes, in two pieces: a thousand runs share one
/// copy of the first, which is much the larger one.
struct remote_script {
  std::shared_ptr<const std::string> runner; // the same for all of a language
  secret rest;                               // this run's request and key

  std::string text() const { return *runner + rest.reveal(); }
};

result<remote_script> build_remote_parts(const prepared_run& run,
                                         std::string_view key);

} // namespace troupe::script
