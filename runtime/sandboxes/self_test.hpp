#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/engine/sandbox_lease.hpp"

#include <functional>
#include <memory>
#include <string>

namespace troupe {

/// What came of one self-test, or of making and ending its sandbox.
using self_test_sink
  = std::function<void(const std::string& name, const result<std::string>&)>;

/// Makes a sandbox as wanted, tries in it all that its provider does beside
/// runs up to the first that fails, and ends it. Whether all went well. The
/// lease is in the book for as long as the sandbox may be there.
boost::asio::awaitable<bool>
run_self_tests(std::shared_ptr<sandbox_provider> where, sandbox_request wanted,
               std::shared_ptr<lease_book> book, self_test_sink tell,
               call_scope scope);

} // namespace troupe
