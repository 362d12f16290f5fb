#include "actors/cluster/certificate_errors.hpp"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <memory>

namespace troupe {

namespace {

// They are the other side's word: a log line has an end.
constexpr std::size_t longest_names = 200;

struct names_closer {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string name_of(const GENERAL_NAME& name) {
  int type = 0;
  const auto* value
    = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(&name, &type));
  if (type != GEN_DNS && type != GEN_IPADD)
    return {};
  const auto* bytes = ASN1_STRING_get0_data(value);
  const auto n = static_cast<std::size_t>(ASN1_STRING_length(value));
  if (type == GEN_IPADD) {
    char text[INET6_ADDRSTRLEN] = {};
    const bool read = (n == 4 || n == 16)
      && ::inet_ntop(n == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
    return read ? text : "";
  }
  std::string text;
  for (std::size_t i = 0; i < n; ++i)
    text
      += bytes[i] > ' ' && bytes[i] < 0x7f ? static_cast<char>(bytes[i]) : '?';
  return text;
}

/// What may be dialed with it, as it says itself.
std::string names_in(X509* certificate) {
  std::unique_ptr<GENERAL_NAMES, names_closer> names{
    static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  std::string all;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto name = name_of(*sk_GENERAL_NAME_value(names.get(), i));
    if (name.empty())
      continue;
    if (all.size() + name.size() > longest_names)
      return all + ", ...";
    all += (all.empty() ? "" : ", ") + name;
  }
  return all;
}

} // namespace

std::string why_refused(boost::asio::ssl::verify_context& context, bool trusted,
                        const std::string& host) {
  auto* store = context.native_handle();
  if (trusted) {
    auto* certificate = X509_STORE_CTX_get_current_cert(store);
    const auto names = certificate ? names_in(certificate) : std::string{};
    if (names.empty())
      return "the certificate names no host (subjectAltName), so it is not for "
        + host;
    return "the certificate is for " + names + ", not for " + host;
  }
  const int why = X509_STORE_CTX_get_error(store);
  switch (why) {
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    return "the certificate was not signed by the trusted CA (cluster.ca)";
  case X509_V_ERR_INVALID_PURPOSE:
    return "the certificate is not for this use: its extendedKeyUsage needs "
           "serverAuth and clientAuth, or none at all";
  default:
    return std::string{"the certificate is not accepted: "}
    + X509_verify_cert_error_string(why);
  }
}

} // namespace troupe
