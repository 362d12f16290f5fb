#include "tests/support/http/tls_faces.hpp"

#include "tests/support/providers/fake_files.hpp"

#include <openssl/ssl.h>

#include <array>
#include <string_view>

namespace troupe::test {

namespace asio = boost::asio;

namespace {

constexpr const char* here = "DNS:localhost,IP:127.0.0.1";

// Lists of names as ALPN spells them.
constexpr std::array<unsigned char, 3> http2{2, 'h', '2'};
// As long as the one that clients of gRPC ask for.
constexpr std::array<unsigned char, 2> another{'h', '3'};

int choose_http2(SSL*, const unsigned char** out, unsigned char* size,
                 const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, http2.data(), http2.size(), offered,
                            offered_size)
      != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK; // a client that speaks HTTP/1.1
  *out = found;
  return SSL_TLSEXT_ERR_OK;
}

int choose_another(SSL*, const unsigned char** out, unsigned char* size,
                   const unsigned char*, unsigned, void*) {
  *out = another.data();
  *size = another.size();
  return SSL_TLSEXT_ERR_OK;
}

certificate read(const test_authority::files& made) {
  return {slurp(made.certificate).value(), slurp(made.key).value()};
}

} // namespace

certificate tls_faces::of(tls_face which) const {
  switch (which) {
  case tls_face::expired:
    return read(authority_.sign("expired", here, {-7'200, -3'600}));
  case tls_face::of_another_name:
    return read(authority_.sign("other", "DNS:other.example"));
  case tls_face::signed_by_itself:
    return make_certificate("127.0.0.1");
  case tls_face::signed_by_a_stranger:
    return read(stranger_.sign("strange", here));
  case tls_face::right:
  case tls_face::too_old:
  case tls_face::cut:
  case tls_face::stalled:
  case tls_face::without_http2:
  case tls_face::of_another_protocol:
    break;
  }
  return read(authority_.sign("right", here));
}

std::shared_ptr<asio::ssl::context> tls_faces::context(tls_face which) const {
  auto shown = of(which);
  auto made = make_server_context(shown.pem, shown.key_pem);
  auto* native = made->native_handle();
  if (which == tls_face::of_another_protocol)
    SSL_CTX_set_alpn_select_cb(native, choose_another, nullptr);
  else if (which != tls_face::without_http2)
    SSL_CTX_set_alpn_select_cb(native, choose_http2, nullptr);
  if (which == tls_face::too_old) {
    SSL_CTX_set_security_level(native, 0); // it would not speak that otherwise
    SSL_CTX_set_min_proto_version(native, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(native, TLS1_1_VERSION);
  }
  return made;
}

handshake tls_faces::manner(tls_face which) {
  if (which == tls_face::cut)
    return handshake::cut;
  return which == tls_face::stalled ? handshake::stalled : handshake::whole;
}

} // namespace troupe::test
