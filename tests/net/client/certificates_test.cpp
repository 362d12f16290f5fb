// B50: whom the client takes for the service it wants to speak to. Every
// certificate is made here; each bad one differs from the good one in one
// thing.
#include "net/client/client_tls.hpp"
#include "net/client/connection.hpp"
#include "net/client/http_client.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

using namespace troupe;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using test::test_authority;

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Answers over TLS with what it is told to show; counts what it was asked.
class tls_server {
public:
  using setup = std::function<void(SSL_CTX*)>;

  tls_server(const test_authority::files& own, const std::string& more_chain,
             const setup& more = {})
      : context_{asio::ssl::context::tls_server} {
    auto chain = text_of(own.certificate) + more_chain;
    context_.use_certificate_chain(asio::buffer(chain));
    context_.use_private_key_file(own.key, asio::ssl::context::pem);
    SSL_CTX_set_alpn_select_cb(context_.native_handle(), choose_first, nullptr);
    if (more)
      more(context_.native_handle());
    worker_ = std::thread{[this] { serve(); }};
  }
  ~tls_server() {
    over_ = true;
    boost::system::error_code ignored;
    tcp::socket last{io_}; // wakes the accept
    last.connect({asio::ip::address_v4::loopback(), port()}, ignored);
    worker_.join();
  }
  std::uint16_t port() const { return port_; }
  int requests() const { return requests_; }

private:
  static int choose_first(SSL*, const unsigned char** out, unsigned char* size,
                          const unsigned char* in, unsigned, void*) {
    *size = in[0];
    *out = in + 1;
    return SSL_TLSEXT_ERR_OK;
  }
  void serve() {
    while (!over_) {
      asio::ssl::stream<tcp::socket> stream{io_, context_};
      boost::system::error_code why;
      acceptor_.accept(stream.lowest_layer(), why);
      if (over_ || why)
        return;
      stream.handshake(asio::ssl::stream_base::server, why);
      std::string request;
      if (!why)
        asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n",
                         why);
      if (why)
        continue;
      ++requests_;
      std::string answer = "HTTP/1.1 204 Fine\r\nConnection: close\r\n\r\n";
      asio::write(stream, asio::buffer(answer), why);
      stream.shutdown(why);
    }
  }

  asio::io_context io_;
  asio::ssl::context context_;
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::uint16_t port_ = acceptor_.local_endpoint().port();
  std::atomic<bool> over_{false};
  std::atomic<int> requests_{0};
  std::thread worker_;
};

/// Says these bytes to whoever connects, and hangs up when it is told to.
class plain_server {
public:
  explicit plain_server(std::string bytes, bool hangs_up = true)
      : worker_{[this, bytes = std::move(bytes), hangs_up] {
          boost::system::error_code why;
          tcp::socket peer{io_};
          acceptor_.accept(peer, why);
          char hello[512];
          peer.read_some(asio::buffer(hello), why);
          asio::write(peer, asio::buffer(bytes), why);
          if (!hangs_up) // until the other side does
            while (!why)
              peer.read_some(asio::buffer(hello), why);
        }} {}
  ~plain_server() { worker_.join(); }
  std::uint16_t port() const { return port_; }

private:
  asio::io_context io_;
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::uint16_t port_ = acceptor_.local_endpoint().port();
  std::thread worker_;
};

struct fixture {
  tests::temporary_directory folder;
  test_authority ours{folder.path(), "ours"};
  test_authority theirs{folder.path(), "theirs"};
  test_authority below{folder.path(), "below", &ours};
  asio::io_context io;
  net::client_options options;

  fixture() {
    options.ca_file = ours.file();
    options.connect_timeout = 2s;
  }

  net::base_url place(std::uint16_t port, std::string host) const {
    return {true, std::move(host), port, ""};
  }
  template <class Work>
  auto finish(Work work) {
    auto answer = asio::co_spawn(io, std::move(work), asio::use_future);
    io.restart();
    io.run();
    return answer.get();
  }
  net::client_exchange ask(std::uint16_t port, std::string host) {
    net::http_client client{io.get_executor(), options};
    net::client_request r;
    r.service = place(port, std::move(host));
    r.headers.set("X-API-Key", "s3cret");
    r.deadline = std::chrono::steady_clock::now() + 5s;
    r.tries = 1;
    return finish(client.send(std::move(r)));
  }
  /// As the gRPC channel opens its connections.
  result<void> open_for_grpc(std::uint16_t port, std::string host) {
    auto tls = net::make_client_tls(options.ca_file);
    net::client_connection link{io.get_executor()};
    net::resolver::endpoints there{
      tcp::endpoint{asio::ip::address_v4::loopback(), port}};
    return finish(link.open(place(port, std::move(host)), std::move(there),
                            **tls, std::chrono::steady_clock::now() + 2s,
                            nullptr, net::wire_protocol::http2));
  }
  /// Refused by every way in, and not a byte of a request was sent.
  void check_refused(const tls_server& server, const std::string& host) {
    auto got = ask(server.port(), host);
    BOOST_REQUIRE(!got.answer.has_value());
    BOOST_TEST((got.answer.error().code == ec::unavailable));
    BOOST_TEST(got.answer.error().text.find("s3cret") == std::string::npos);
    BOOST_TEST(!got.may_have_acted);
    BOOST_TEST(!open_for_grpc(server.port(), host).has_value());
    BOOST_TEST(server.requests() == 0);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(certificates_of_services, fixture)

BOOST_AUTO_TEST_CASE(are_taken_when_all_is_well) {
  auto by_name = ours.sign("good", "DNS:localhost");
  tls_server named{by_name, ""};
  BOOST_TEST(ask(named.port(), "localhost").answer.has_value());
  BOOST_TEST(open_for_grpc(named.port(), "localhost").has_value());
  BOOST_TEST(named.requests() == 1);
  auto by_address = ours.sign("address", "IP:127.0.0.1");
  tls_server numbered{by_address, ""};
  BOOST_TEST(ask(numbered.port(), "127.0.0.1").answer.has_value());
  auto chained = below.sign("chained", "DNS:localhost");
  tls_server whole{chained, text_of(below.file())};
  BOOST_TEST(ask(whole.port(), "localhost").answer.has_value());
}

// A good certificate, but not the protocol that was asked for.
BOOST_AUTO_TEST_CASE(are_of_no_use_where_nobody_speaks_the_protocol) {
  auto good = ours.sign("good", "DNS:localhost");
  tls_server older{good, "", [](SSL_CTX* c) {
                     SSL_CTX_set_alpn_select_cb(
                       c,
                       [](SSL*, const unsigned char**, unsigned char*,
                          const unsigned char*, unsigned,
                          void*) { return SSL_TLSEXT_ERR_NOACK; },
                       nullptr);
                   }};
  auto opened = open_for_grpc(older.port(), "localhost");
  BOOST_REQUIRE(!opened.has_value());
  BOOST_TEST(opened.error().text.find("does not speak HTTP/2")
             != std::string::npos);
  tls_server newer{good, "", [](SSL_CTX* c) {
                     SSL_CTX_set_alpn_select_cb(
                       c,
                       [](SSL*, const unsigned char**, unsigned char*,
                          const unsigned char* offered, unsigned, void*) {
                         return offered[0] == 2 ? SSL_TLSEXT_ERR_NOACK
                                                : SSL_TLSEXT_ERR_ALERT_FATAL;
                       },
                       nullptr);
                   }};
  auto got = ask(newer.port(), "localhost");
  BOOST_REQUIRE(!got.answer.has_value());
  BOOST_TEST(!got.may_have_acted);
}

BOOST_AUTO_TEST_CASE(are_refused_for_what_they_say) {
  using validity = test_authority::validity;
  struct row {
    const char* what;
    const test_authority& signer;
    std::string subject;
    std::string names;
    validity when{};
    std::string host = "localhost";
  };
  const row table[]{
    {"expired", ours, "expired", "DNS:localhost", {-7'200, -60}},
    {"not yet valid", ours, "early", "DNS:localhost", {3'600, 7'200}},
    {"of another name", ours, "other", "DNS:elsewhere.example"},
    {"of a name that only begins so", ours, "longer", "DNS:localhost.evil"},
    {"common name only", ours, "localhost", ""},
    {"common name beside another name", ours, "localhost",
     "DNS:elsewhere.example"},
    {"a star for everything", ours, "star", "DNS:*"},
    {"a star for a part of a label", ours, "part", "DNS:local*"},
    {"an address as a name", ours, "named", "DNS:127.0.0.1", {}, "127.0.0.1"},
    {"another address", ours, "numbered", "IP:127.0.0.2", {}, "127.0.0.1"},
    {"an address for a name", ours, "unnamed", "IP:127.0.0.1"},
    {"of a stranger", theirs, "stranger", "DNS:localhost"},
    {"with a gap in its chain", below, "gap", "DNS:localhost"},
  };
  for (const auto& each : table)
    BOOST_TEST_CONTEXT(each.what) {
      auto own = each.signer.sign(each.subject, each.names, each.when);
      tls_server server{own, ""};
      check_refused(server, each.host);
    }
}

BOOST_AUTO_TEST_CASE(are_refused_when_they_sign_themselves) {
  auto self = test_authority{folder.path(), "localhost"}; // and nobody above
  tls_server server{self.sign("leaf", "DNS:localhost"), text_of(self.file())};
  check_refused(server, "localhost");
}

BOOST_AUTO_TEST_CASE(are_not_even_asked_for_in_the_old_ways) {
  auto good = ours.sign("good", "DNS:localhost");
  struct row {
    const char* what;
    tls_server::setup setup;
  };
  const row table[]{
    {"TLS 1.0",
     [](SSL_CTX* c) {
       SSL_CTX_set_security_level(c, 0);
       SSL_CTX_set_min_proto_version(c, TLS1_VERSION);
       SSL_CTX_set_max_proto_version(c, TLS1_VERSION);
     }},
    {"TLS 1.1",
     [](SSL_CTX* c) {
       SSL_CTX_set_security_level(c, 0);
       SSL_CTX_set_min_proto_version(c, TLS1_1_VERSION);
       SSL_CTX_set_max_proto_version(c, TLS1_1_VERSION);
     }},
    {"no encryption",
     [](SSL_CTX* c) {
       SSL_CTX_set_security_level(c, 0);
       SSL_CTX_set_max_proto_version(c, TLS1_2_VERSION);
       SSL_CTX_set_cipher_list(c, "eNULL");
     }},
    {"nobody's certificate",
     [](SSL_CTX* c) {
       SSL_CTX_set_security_level(c, 0);
       SSL_CTX_set_max_proto_version(c, TLS1_2_VERSION);
       SSL_CTX_set_cipher_list(c, "aNULL");
     }},
  };
  for (const auto& each : table)
    BOOST_TEST_CONTEXT(each.what) {
      tls_server server{good, "", each.setup};
      check_refused(server, "localhost");
    }
}

BOOST_AUTO_TEST_CASE(are_waited_for_until_the_deadline_only) {
  // The beginning of a ServerHello, of an alert, of HTTP, and of nothing.
  const std::string hello{"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03", 11};
  const std::string alert{"\x15\x03\x03\x00\x02\x02", 6};
  for (const auto& bytes :
       {hello, alert, std::string{"HTTP/1.1 200 OK\r\n\r\n"}, std::string{}})
    for (bool hangs_up : {true, false}) {
      options.connect_timeout = hangs_up ? 2s : 300ms;
      plain_server server{bytes, hangs_up};
      auto began = std::chrono::steady_clock::now();
      auto got = ask(server.port(), "localhost");
      BOOST_REQUIRE(!got.answer.has_value());
      BOOST_TEST(!got.may_have_acted);
      BOOST_TEST((std::chrono::steady_clock::now() - began < 4s));
    }
}

BOOST_AUTO_TEST_CASE(are_of_no_use_when_the_store_cannot_be_read) {
  options.ca_file = (folder.path() / "missing.pem").string();
  auto good = ours.sign("good", "DNS:localhost");
  tls_server server{good, ""};
  auto got = ask(server.port(), "localhost");
  BOOST_REQUIRE(!got.answer.has_value());
  BOOST_TEST((got.answer.error().code == ec::invalid_request));
  BOOST_TEST(server.requests() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
