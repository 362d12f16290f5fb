// Beast's and Asio's TLS bodies, compiled once instead of in every file; the
// rest of Asio is in runtime/base/boost_source.cpp, since the warden uses it
// too.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
