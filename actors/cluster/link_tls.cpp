#include "actors/cluster/link_tls.hpp"

#include <functional>

namespace troupe {

namespace ssl = boost::asio::ssl;

result<std::shared_ptr<ssl::context>>
make_link_context(const link_identity& who, link_side side) {
  auto context = std::make_shared<ssl::context>(side == link_side::dials
                                                  ? ssl::context::tls_client
                                                  : ssl::context::tls_server);
  auto* raw = context->native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  // A resumed session would skip the certificate.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  boost::system::error_code failed;
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert,
                           failed);
  struct step {
    const char* setting;
    const std::string& file;
    std::function<void()> read;
  };
  const step steps[] = {
    {"ca", who.authority,
     [&] { context->load_verify_file(who.authority, failed); }},
    {"certificate", who.certificate,
     [&] { context->use_certificate_chain_file(who.certificate, failed); }},
    {"key", who.key,
     [&] {
       context->use_private_key_file(who.key, ssl::context::pem, failed);
     }},
  };
  for (const auto& s : steps) {
    if (!failed)
      s.read();
    if (failed || s.file.empty())
      return error{ec::invalid_request,
                   std::string{"read the "} + s.setting + " of links, '"
                     + s.file + "': " + failed.message(),
                   {},
                   {}};
  }
  return context;
}

} // namespace troupe
