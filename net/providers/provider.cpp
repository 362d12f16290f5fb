#include "net/providers/provider.hpp"

#include "net/http/fail.hpp"

namespace troupe::net {

boost::asio::awaitable<result<remote_sandbox>>
provider::rejoin(remote_sandbox, std::chrono::seconds, call_scope) {
  co_return fail(ec::not_found,
                 std::string{name()} + " has no persistent sandboxes");
}

} // namespace troupe::net
