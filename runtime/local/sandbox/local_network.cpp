// What sandboxes of this machine may reach outside: a network broker for each,
// which hears the commands that may leave the network inside.
#include "runtime/local/sandbox/local_sandboxes.hpp"

namespace troupe {

namespace asio = boost::asio;

result<void> local_sandboxes::check(const network_policy& wanted) const {
  if (wanted.mode != network_mode::off
      && !wardens_->probe().has("network_broker"))
    return bad_field("/network",
                     "this host cannot tell a network broker of calls; see "
                     "`troupe doctor`",
                     "ask for the policy `off`, or for another provider");
  return {};
}

void local_sandboxes::broker_calls(outside& network, unique_fd listener) {
  if (network.broker)
    return network.broker->add(std::move(listener));
  network::broker::request about{std::move(listener), network.policy,
                                 wardens_->broker_options(),
                                 network.organization, wardens_};
  about.options.of_a_run.sockets_at_once = options_.connections;
  // Without one the kernel answers every call with ENOSYS.
  if (auto opened = network::broker::open(executor_, std::move(about)))
    network.broker = std::move(*opened);
}

asio::awaitable<result<void>>
local_sandboxes::set_network(const sandbox_handle& sandbox,
                             network_policy policy, call_scope) {
  auto found = find(sandbox);
  if (!found)
    co_return found.error();
  if (auto fine = check(policy); !fine)
    co_return fine.error();
  auto& network = (*found)->network;
  const bool leaves = policy.mode != network_mode::off;
  if (leaves && !network.may_leave && network.has_begun)
    co_return fail(ec::conflict,
                   "the sandbox was made without a network and has begun "
                   "processes, which can have none; make another one with the "
                   "policy that it is to have");
  network.may_leave = network.may_leave || leaves;
  network.policy = std::move(policy);
  if (network.broker)
    network.broker->change(network.policy);
  co_return result<void>{};
}

} // namespace troupe
