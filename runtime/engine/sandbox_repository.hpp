#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/model/sandbox.hpp"

#include <memory>
#include <optional>

namespace troupe {

/// A fresh sandbox with a clone of `git` in it, if there is one to be had. One
/// whose repository could not be cloned is ended again.
boost::asio::awaitable<sandbox_creation>
create_sandbox(std::shared_ptr<sandbox_provider> provider,
               sandbox_request wanted, std::optional<git_source> git,
               call_scope scope);

} // namespace troupe
