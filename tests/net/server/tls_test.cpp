// What happens on a TLS port: H35 of docs/reference/rules.md.
#include "tests/support/http/http_server.hpp"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace troupe;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

BOOST_AUTO_TEST_SUITE(http_over_tls)

namespace {

/// A certificate of its own, made by the library that will serve it.
struct certificate {
  explicit certificate(const std::string& name) {
    auto* key = EVP_EC_gen("P-256");
    auto* x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -60);
    X509_gmtime_adj(X509_getm_notAfter(x), 3'600);
    X509_set_pubkey(x, key);
    auto* subject = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(
      subject, "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(x, subject);
    X509_sign(x, key, EVP_sha256());
    write(x, key);
    X509_free(x);
    EVP_PKEY_free(key);
  }

  static void write(X509* x, EVP_PKEY* key) {
    std::filesystem::create_directories(folder());
    auto* c = std::fopen(cert_file().c_str(), "w");
    PEM_write_X509(c, x);
    std::fclose(c);
    auto* k = std::fopen(key_file().c_str(), "w");
    PEM_write_PrivateKey(k, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(k);
  }
  static std::string folder() { return TROUPE_BINARY_DIR "/tls_test"; }
  static std::string cert_file() { return folder() + "/cert.pem"; }
  static std::string key_file() { return folder() + "/key.pem"; }
};

net::server_options with_tls() {
  certificate{"first"};
  net::server_options o;
  o.tls_certificate_file = certificate::cert_file();
  o.tls_key_file = certificate::key_file();
  o.handshake_timeout = 500ms;
  return o;
}

/// A client over TLS: what it was shown, and what it was answered.
struct tls_client {
  explicit tls_client(std::uint16_t port, int highest = TLS1_3_VERSION,
                      const std::string& host = {}) {
    auto* ssl = stream.native_handle();
    if (!host.empty())
      SSL_set_tlsext_host_name(ssl, host.c_str());
    SSL_set_security_level(ssl, 0);
    SSL_set_min_proto_version(ssl, TLS1_VERSION);
    SSL_set_max_proto_version(ssl, highest);
    stream.lowest_layer().connect({asio::ip::address_v4::loopback(), port});
    stream.handshake(asio::ssl::stream_base::client, failed);
  }
  std::string get(const std::string& path, bool close = true) {
    auto request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n"
      + (close ? "Connection: close\r\n\r\n" : "\r\n");
    asio::write(stream, asio::buffer(request), failed);
    std::string out;
    if (close)
      asio::read(stream, asio::dynamic_buffer(out), failed);
    else
      asio::read_until(stream, asio::dynamic_buffer(out), "ok\n", failed);
    return out;
  }
  std::string name() {
    auto* x = SSL_get1_peer_certificate(stream.native_handle());
    char text[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, text,
                              sizeof text);
    X509_free(x);
    return text;
  }

  asio::io_context io;
  asio::ssl::context context{asio::ssl::context::tls_client};
  asio::ssl::stream<tcp::socket> stream{io, context};
  boost::system::error_code failed;
};

} // namespace

BOOST_AUTO_TEST_CASE(answers_and_says_goodbye) {
  test::http_house house{with_tls()};
  tls_client client{house.port};
  BOOST_TEST(client.get("/livez", false).find("200 OK") != std::string::npos);
  auto last = client.get("/livez");
  BOOST_TEST(last.find("ok\n") != std::string::npos);
  BOOST_TEST(last.find("strict-transport-security:") != std::string::npos);
  // A proper close_notify, not a cut: truncation could be an attack.
  BOOST_TEST((client.failed == asio::error::eof));
}

// What was encrypted and is not wanted need not be opened.
BOOST_AUTO_TEST_CASE(tells_who_sends_it_all_that_a_body_is_too_large) {
  test::http_house house{with_tls()};
  tls_client client{house.port};
  std::string request = "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: application/json\r\n"
                        "Content-Length: 17825792\r\n\r\n"
    + std::string(17u << 20, ' ');
  asio::write(client.stream, asio::buffer(request), client.failed);
  BOOST_TEST(!client.failed);
  std::string out;
  asio::read(client.stream, asio::dynamic_buffer(out), client.failed);
  BOOST_TEST(out.starts_with("HTTP/1.1 413 "), out);
  BOOST_TEST((client.failed == asio::error::eof));
}

BOOST_AUTO_TEST_CASE(refuses_old_versions) {
  test::http_house house{with_tls()};
  for (int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    tls_client old{house.port, version};
    BOOST_TEST(!!old.failed);
  }
  tls_client recent{house.port, TLS1_2_VERSION};
  BOOST_TEST(!recent.failed);
}

BOOST_AUTO_TEST_CASE(does_not_shake_hands_again) {
  test::http_house house{with_tls()};
  tls_client client{house.port, TLS1_2_VERSION};
  BOOST_TEST(!client.failed);
  auto* ssl = client.stream.native_handle();
  BOOST_TEST(SSL_renegotiate(ssl) == 1);
  client.stream.handshake(asio::ssl::stream_base::client, client.failed);
  BOOST_TEST(!!client.failed);
  BOOST_TEST(tls_client{house.port}.get("/livez").find("ok\n")
             != std::string::npos);
}

// Names are told by SNI, if at all: there is one certificate for all of them.
BOOST_AUTO_TEST_CASE(answers_whoever_names_no_host_or_a_strange_one) {
  test::http_house house{with_tls()};
  for (auto name : {"", "localhost", "elsewhere.example"}) {
    tls_client client{house.port, TLS1_3_VERSION, name};
    BOOST_TEST(!client.failed, name);
    BOOST_TEST(client.name() == "first");
    BOOST_TEST(client.get("/livez").find("ok\n") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(tells_plain_text_to_encrypt_and_closes_on_silence) {
  test::http_house house{with_tls()};
  test::raw_client plain{house.port};
  plain.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  BOOST_TEST(plain.ends());
  BOOST_TEST(plain.rest().starts_with("HTTP/1.1 400 "), plain.rest());
  BOOST_TEST(plain.rest().ends_with("use https:// instead of http://\n"),
             plain.rest());
  test::raw_client silent{house.port};
  BOOST_TEST(silent.ends());
}

BOOST_AUTO_TEST_CASE(takes_a_new_certificate_without_a_restart) {
  test::http_house house{with_tls()};
  tls_client before{house.port};
  BOOST_TEST(before.name() == "first");
  certificate{"second"};
  BOOST_TEST(house.server.reload_tls().has_value());
  BOOST_TEST(tls_client{house.port}.name() == "second");
  BOOST_TEST(before.get("/livez").find("ok\n") != std::string::npos);
  std::ofstream{certificate::cert_file()} << "nonsense";
  BOOST_TEST(!house.server.reload_tls());
  BOOST_TEST(tls_client{house.port}.name() == "second");
}

BOOST_AUTO_TEST_CASE(does_not_start_with_half_of_what_it_needs) {
  test::fake_engine engine;
  auto half = with_tls();
  half.listen = {"127.0.0.1:0"};
  half.tls_key_file.clear();
  BOOST_TEST(!net::http_server(engine, half).start());
  auto wrong = with_tls();
  wrong.listen = {"127.0.0.1:0"};
  wrong.tls_key_file = wrong.tls_certificate_file;
  BOOST_TEST(!net::http_server(engine, wrong).start());
}

BOOST_AUTO_TEST_SUITE_END()
