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

boost::asio::awaitable<result<kernel_image_ptr>>
sandbox_provider::save_kernel(const sandbox_handle&,
                              std::shared_ptr<sandbox_kernel>, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " has no branches; use fork");
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

boost::asio::awaitable<result<void>>
sandbox_provider::pause(const sandbox_handle&, std::chrono::seconds,
                        call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " cannot pause a sandbox");
}

boost::asio::awaitable<result<void>>
sandbox_provider::resume(const sandbox_handle&, std::chrono::seconds,
                         call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " cannot resume a sandbox");
}

boost::asio::awaitable<result<void>>
sandbox_provider::set_network(const sandbox_handle&, network_policy,
                              call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()}
                   + " cannot change the network of a sandbox that lives");
}

boost::asio::awaitable<result<place_snapshot>>
sandbox_provider::snapshot(const sandbox_handle&, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " takes no snapshots");
}

boost::asio::awaitable<result<void>>
sandbox_provider::rollback(const sandbox_handle&, std::string, call_scope) {
  co_return fail(ec::invalid_request,
                 std::string{name()} + " takes no snapshots");
}

boost::asio::awaitable<result<void>>
sandbox_provider::forget_snapshot(std::string, call_scope) {
  co_return result<void>{};
}

} // namespace troupe
