#pragma once

#include "net/providers/provider.hpp"
#include "runtime/engine/sandbox_lease.hpp"

#include <functional>
#include <memory>
#include <string>

namespace troupe::net {

/// What came of one rehearsal, or of making and ending its sandbox.
using rehearsal_sink
  = std::function<void(const std::string& name, const result<std::string>&)>;

/// Makes a sandbox for `run`, plays in it all that its provider does beside
/// runs up to the first that fails, and ends it. Whether all went well. The
/// lease is in the book for as long as the sandbox may be there.
boost::asio::awaitable<bool> rehearse(std::shared_ptr<provider> where,
                                      prepared_run_ptr run,
                                      std::shared_ptr<lease_book> book,
                                      rehearsal_sink tell, call_scope scope);

} // namespace troupe::net
