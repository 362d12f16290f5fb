// A served process over TLS: H35, and a certificate that is renewed while it
// runs.
#include "tests/app/serving.hpp"
#include "tests/support/http/test_authority.hpp"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>

using namespace troupe;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

/// What a client is shown, and answered.
struct visit {
  visit(const std::string& address, const std::string& authority) {
    context.set_verify_mode(asio::ssl::verify_peer);
    context.load_verify_file(authority);
    auto port = address.substr(address.rfind(':') + 1);
    stream.lowest_layer().connect({asio::ip::address_v4::loopback(),
                                   static_cast<std::uint16_t>(std::stoi(port))},
                                  failed);
    if (!failed)
      stream.handshake(asio::ssl::stream_base::client, failed);
  }
  /// The common name in the certificate.
  std::string name() {
    auto* x = SSL_get1_peer_certificate(stream.native_handle());
    char text[64] = "";
    if (x)
      X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, text,
                                sizeof text);
    X509_free(x);
    return text;
  }
  std::string get(const std::string& path) {
    auto request = "GET " + path
      + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string out;
    asio::write(stream, asio::buffer(request), failed);
    asio::read(stream, asio::dynamic_buffer(out), failed);
    return out;
  }

  asio::io_context io;
  asio::ssl::context context{asio::ssl::context::tls_client};
  asio::ssl::stream<tcp::socket> stream{io, context};
  boost::system::error_code failed;
};

struct fixture {
  temporary_folder folder;
  test::test_authority ours{folder.path, "ours"};
  std::filesystem::path certificate = folder.path / "served.pem";
  std::filesystem::path key = folder.path / "served.key";

  /// As a renewal does it: the new files take the place of the old ones.
  void install(const std::string& name) {
    auto made = ours.sign(name, "DNS:localhost");
    std::filesystem::rename(made.key, key);
    std::filesystem::rename(made.certificate, certificate);
  }
  std::vector<std::string> flags() const {
    return {"--http.tls-certificate=" + certificate.string(),
            "--http.tls-key=" + key.string()};
  }
  /// Until the log says that it does.
  bool keeps_showing(const std::string& address, const std::string& wanted) {
    auto until = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < until) {
      visit next{address, ours.file()};
      BOOST_TEST_REQUIRE(next.name() == wanted);
      std::ifstream log{folder.path / "serve.log"};
      std::string text{std::istreambuf_iterator<char>{log}, {}};
      if (text.find("certificate not reloaded") != text.npos)
        return true;
    }
    return false;
  }
  /// Whom it shows once this one is there; every visit before has to succeed.
  bool comes_to_show(const std::string& address, const std::string& wanted) {
    auto until = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < until) {
      visit next{address, ours.file()};
      BOOST_TEST_REQUIRE(!next.failed, next.failed.message());
      if (next.name() == wanted)
        return true;
    }
    return false;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(serve_over_tls, fixture)

BOOST_AUTO_TEST_CASE(takes_a_new_certificate_on_sighup) {
  install("first");
  serving engine{folder, flags()};
  auto greeting = engine.greeting();
  auto at = greeting.find("https://");
  BOOST_TEST_REQUIRE(at != greeting.npos, greeting);
  // What is shown to try has a name in it, which a certificate is for.
  BOOST_TEST(greeting.find("try: curl https://NAME:") != greeting.npos,
             greeting);
  at += 8;
  auto address = greeting.substr(at, greeting.find_first_of("\n/", at) - at);
  visit before{address, ours.file()};
  BOOST_TEST(before.name() == "first");

  install("second");
  engine.tell(SIGHUP);
  BOOST_TEST(comes_to_show(address, "second"));
  // Who was there before goes on.
  BOOST_TEST(before.get("/livez").find("200 OK") != std::string::npos);

  // What does not read changes nothing.
  std::ofstream{certificate} << "nonsense";
  engine.tell(SIGHUP);
  BOOST_TEST(keeps_showing(address, "second"));
  install("third");
  engine.tell(SIGHUP);
  BOOST_TEST(comes_to_show(address, "third"));
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(does_not_start_on_a_certificate_that_does_not_read) {
  install("first");
  std::ofstream{certificate} << "nonsense";
  serving engine{folder, flags()};
  BOOST_TEST(engine.greeting().find("try: ") == std::string::npos);
  int status = 0;
  BOOST_TEST(::waitpid(engine.pid(), &status, 0) == engine.pid());
  engine.forget();
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) != 0);
}

BOOST_AUTO_TEST_SUITE_END()
