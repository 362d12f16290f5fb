#pragma once

#include "net/server/connection.hpp"
#include "net/server/io_worker.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace troupe::net {

std::shared_ptr<connection> make_plain(std::shared_ptr<io_worker> home,
                                       connection::traits t, tcp_socket socket);
std::shared_ptr<connection>
make_tls(std::shared_ptr<io_worker> home, connection::traits t,
         tcp_socket socket, std::shared_ptr<boost::asio::ssl::context> context);

/// TLS 1.2 and later with the files of the options.
result<std::shared_ptr<boost::asio::ssl::context>>
load_tls(const server_options& options);

} // namespace troupe::net
