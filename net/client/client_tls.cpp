#include "net/client/client_tls.hpp"

#include "runtime/base/error.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace troupe::net {

namespace ssl = boost::asio::ssl;

namespace {

using certificate_ptr = std::shared_ptr<X509>;

certificate_ptr read_certificate(const std::string& file) {
  std::unique_ptr<BIO, decltype(&BIO_free)> in{BIO_new_file(file.c_str(), "r"),
                                               BIO_free};
  auto* first
    = in ? PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr) : nullptr;
  return {first, X509_free};
}

/// Whoever shows `one` proves in the handshake that he has its key; who signed
/// it, and for which name, adds nothing to that.
void trust_only(ssl::context& context, const certificate_ptr& one,
                boost::system::error_code& why) {
  context.set_verify_callback(
    [one](bool, ssl::verify_context& at) {
      auto* store = at.native_handle();
      if (X509_STORE_CTX_get_error_depth(store) > 0)
        return true;
      auto* shown = X509_STORE_CTX_get_current_cert(store);
      return shown && X509_cmp(shown, one.get()) == 0;
    },
    why);
}

error cannot_read(const std::string& what, const std::string& reason) {
  return fail(ec::invalid_request,
              "TLS: cannot read certificates from '" + what + "': " + reason);
}

} // namespace

result<std::shared_ptr<ssl::context>>
make_client_tls(const std::string& ca_file, const tls_identity& who) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  boost::system::error_code why;
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // Idle ones are many: they give back their 32 KiB of buffers.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  // Nobody shakes hands twice on a connection.
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  context->set_verify_mode(ssl::verify_peer, why);
  if (!why && ca_file.empty())
    context->set_default_verify_paths(why);
  else if (!why)
    context->load_verify_file(ca_file, why);
  if (why)
    return cannot_read(ca_file.empty() ? "the system's store" : ca_file,
                       why.message());
  if (!who.only_peer.empty()) {
    auto one = read_certificate(who.only_peer);
    if (!one)
      return cannot_read(who.only_peer, "there is none");
    trust_only(*context, one, why);
  }
  if (!who.certificate.empty()) {
    context->use_certificate_chain_file(who.certificate, why);
    if (!why)
      context->use_private_key_file(who.key, ssl::context::pem, why);
    if (why)
      return cannot_read(who.certificate + "' and '" + who.key, why.message());
  }
  return context;
}

} // namespace troupe::net
