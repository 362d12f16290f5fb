// Asio's TLS bodies, compiled once instead of in every file: for HTTP and for
// the links between nodes.
#include <boost/asio/ssl/impl/src.hpp>
