// Asio's and JSON's bodies, compiled once instead of in every file.
#include <boost/asio/impl/src.hpp>
#include <boost/json/src.hpp>
