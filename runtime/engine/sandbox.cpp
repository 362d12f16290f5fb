#include "runtime/engine/sandbox.hpp"

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

boost::asio::awaitable<result<unique_fd>>
sandbox_provider::connect(const sandbox_handle&, std::uint16_t, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " has no way in to ports");
}

boost::asio::awaitable<result<std::vector<std::uint16_t>>>
sandbox_provider::ports(const sandbox_handle&, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " does not tell what listens");
}

} // namespace troupe
