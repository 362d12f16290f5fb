#pragma once

#include "runtime/local/egress/dns_message.hpp"
#include "runtime/local/egress/egress_policy.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <list>
#include <memory>
#include <set>

namespace troupe::network {

/// A small nameserver for one run, on a port of the host's loopback. It asks
/// the host's nameservers what the policy permits to ask, and tells the judge
/// what came of it. Used on one executor only.
class resolver : public std::enable_shared_from_this<resolver> {
public:
  /// Programs compare the address that answers with /etc/resolv.conf, not the
  /// port, so this address must be the one that the sandbox's file names.
  static ip_address address();

  static result<std::shared_ptr<resolver>>
  open(boost::asio::any_io_executor executor, const broker_options& options);

  /// Whose policy holds and who learns; null: nobody is served. Forgets every
  /// client and what is being looked up for it.
  void serve(std::shared_ptr<judge> whose);
  /// Another judge for the same clients.
  void go_on_for(std::shared_ptr<judge> whose) { judge_ = std::move(whose); }
  std::uint16_t port() const { return port_; }

  /// Queries from this local port are a tool's: everybody else's are dropped.
  void admit(std::uint16_t port);
  void close();

private:
  using udp = boost::asio::ip::udp;
  struct lookup;

  resolver(boost::asio::any_io_executor executor, const broker_options& options)
      : options_{options}, socket_{std::move(executor)} {}

  void receive();
  void handle(std::string_view packet);
  void start(dns_query asked, std::string_view packet);
  void ask(const std::shared_ptr<lookup>& l);
  void await_answer(const std::shared_ptr<lookup>& l);
  void answered(const std::shared_ptr<lookup>& l, std::string packet);
  /// The same question to the same nameserver, over TCP: `cut` is what to make
  /// do with when that fails.
  void ask_for_all(const std::shared_ptr<lookup>& l, std::string cut);
  void pass_on(const std::shared_ptr<lookup>& l, std::string packet);
  void answer(const udp::endpoint& to, const std::string& packet);
  void finish(const std::shared_ptr<lookup>& l);

  broker_options options_;
  udp::socket socket_;
  std::uint16_t port_ = 0;
  std::shared_ptr<judge> judge_;
  std::uint64_t round_ = 0; // of `serve`: late answers belong to nobody
  std::set<std::uint16_t> clients_;
  std::vector<udp::endpoint> upstream_;
  std::set<std::shared_ptr<lookup>> lookups_;
  udp::endpoint from_;
  std::array<char, 4096> buffer_;
};

/// The addresses after `nameserver` in a resolv.conf; at most three, as libc.
std::vector<ip_address> nameservers_in(std::string_view resolv_conf);

} // namespace troupe::network
