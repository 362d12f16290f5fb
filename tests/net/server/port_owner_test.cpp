#include "net/server/port_owner.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

using namespace troupe;
using boost::asio::ip::tcp;

BOOST_AUTO_TEST_SUITE(port_owner)

BOOST_AUTO_TEST_CASE(names_the_process_that_listens) {
  boost::asio::io_context io;
  tcp::acceptor taken{io, {boost::asio::ip::address_v4::loopback(), 0}};
  const auto at = taken.local_endpoint();
  const auto pid = "(pid " + std::to_string(::getpid()) + ")";
  BOOST_TEST(net::port_owner(at).find(pid) != std::string::npos,
             net::port_owner(at));
  taken.close();
  BOOST_TEST(net::port_owner(at) == "");
}

BOOST_AUTO_TEST_SUITE_END()
