#pragma once

#include "runtime/async/cancellation.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::net {

/// Decides on an address that is about to be connected to.
using address_rule = std::function<bool(const boost::asio::ip::address&)>;

/// Never loopback, private, link-local, CGNAT, multicast, metadata and their
/// forms inside IPv6: for hosts that a tenant or a reply can choose.
bool is_public_address(const boost::asio::ip::address& address);

/// Names to addresses on threads of its own, since getaddrinfo blocks for as
/// long as it likes. The caller leaves at its deadline all the same.
class resolver {
public:
  using endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  /// What a name leads to, or EAI_... of getaddrinfo. May block.
  struct answer {
    int status = 0;
    endpoints found{};
  };
  using names
    = std::function<answer(const std::string& host, std::uint16_t port)>;

  /// With names of its own, for tests; else those of the system.
  explicit resolver(names ask = {}, std::size_t threads = 4);
  ~resolver() { pool_.stop(); }

  /// Only addresses that the rule allows; `denied` when it allows none. The
  /// switch may be empty.
  boost::asio::awaitable<result<endpoints>>
  resolve(std::string host, std::uint16_t port,
          std::chrono::steady_clock::time_point deadline, address_rule rule,
          std::shared_ptr<cancellation> abort = {});

private:
  struct lookup;
  std::shared_ptr<lookup> begin(boost::asio::any_io_executor ex,
                                std::string host, std::uint16_t port);

  std::shared_ptr<const names> ask_; // a lookup may outlive us
  boost::asio::thread_pool pool_;
};

} // namespace troupe::net
