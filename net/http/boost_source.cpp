// Beast's bodies, compiled once instead of in every file; Asio's are in
// runtime/base/boost_source.cpp and runtime/async/tls_source.cpp.
#include <boost/beast/src.hpp>
