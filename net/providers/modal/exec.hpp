#pragma once

#include "net/grpc/grpc_channel.hpp"
#include "runtime/engine/sandbox.hpp"

#include <functional>
#include <memory>
#include <string>

namespace troupe::net {

/// The way to the processes in one sandbox.
struct modal_router {
  std::shared_ptr<grpc_channel> channel; // for this execution alone
  std::string task;
  std::string jwt;
  /// A new `jwt`, when the router takes the old one no more.
  std::function<boost::asio::awaitable<result<std::string>>(call_scope)>
    renew{};
};

/// Runs a program in a sandbox to its end, seen through the sandbox's command
/// router. A connection that breaks is taken up where it was left, and so is
/// one whose token has run out.
boost::asio::awaitable<process_outcome>
execute_at_modal(boost::asio::any_io_executor executor, modal_router at,
                 process_request what, output_sink sink, call_scope scope);

} // namespace troupe::net
