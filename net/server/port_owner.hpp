#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <string>

namespace troupe::net {

/// "nginx (pid 123)": the process that listens on this port; "" where the
/// kernel does not tell, as of processes of other users.
std::string port_owner(const boost::asio::ip::tcp::endpoint& at);

} // namespace troupe::net
