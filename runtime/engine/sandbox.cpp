#include "runtime/engine/sandbox.hpp"

#include "runtime/engine/sandbox_kernel.hpp"

namespace troupe {

const sandbox_config& config_of(const sandbox_request& request) {
  static const sandbox_config says_nothing;
  return request.config ? *request.config : says_nothing;
}

boost::asio::awaitable<result<sandbox_handle>>
sandbox_provider::reconnect(sandbox_handle, std::chrono::seconds, call_scope) {
  co_return fail(ec::not_found,
                 std::string{name()} + " has no persistent sandboxes");
}

boost::asio::awaitable<result<sandbox_process_ptr>>
sandbox_provider::start(const sandbox_handle&, process_request, bool,
                        process_events, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()}
                   + " has no processes beside its caller; use exec");
}

boost::asio::awaitable<result<std::shared_ptr<sandbox_kernel>>>
sandbox_provider::start_kernel(const sandbox_handle&, kernel_request,
                               kernel_events, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " has no contexts; use exec");
}

} // namespace troupe
