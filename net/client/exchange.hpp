#pragma once

#include "net/client/connection.hpp"
#include "net/client/http_client.hpp"

#include <string>

namespace troupe::net {

/// One attempt and how far it came.
struct attempt {
  result<client_response> answer;
  bool sent = false;     // the service may have acted
  bool reusable = false; // the connection can carry another one
};

/// Sends the request and reads its reply, until the request's deadline.
boost::asio::awaitable<attempt> converse(client_connection& link,
                                         const client_request& request,
                                         const stream_reader& reader,
                                         const client_options& options);

} // namespace troupe::net
