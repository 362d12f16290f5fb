#include "net/server/site.hpp"

#include <boost/asio/ip/address.hpp>

#include <string>

namespace troupe::net {

namespace {

bool is_safe(method verb) {
  return verb == method::get || verb == method::head;
}

/// "https://host:port" is ours when it names what Host names. Behind a proxy
/// that speaks TLS for us the schemes differ, so http is no proof of anything;
/// where TLS is ours, an unencrypted page is another one.
bool is_own(std::string_view origin, std::string_view host, bool tls) {
  constexpr std::string_view plain{"http://"}, encrypted{"https://"};
  for (auto scheme : {plain, encrypted})
    if (equal_ignoring_case(origin.substr(0, scheme.size()), scheme))
      return (scheme == encrypted || !tls) && !host.empty()
        && equal_ignoring_case(origin.substr(scheme.size()), host);
  return false; // "null", an extension, nothing that we have ever heard of
}

/// A link that somebody follows, or types in: the answer fills the window, and
/// the page it stood on never sees it. Frames are something else.
bool is_visit(const request& in) {
  return is_safe(in.verb)
    && equal_ignoring_case(in.field("sec-fetch-mode"), "navigate")
    && equal_ignoring_case(in.field("sec-fetch-dest"), "document");
}

} // namespace

bool is_loopback_name(std::string_view name) {
  if (name == "localhost" || name.ends_with(".localhost"))
    return true;
  boost::system::error_code ec;
  // Only what is an address in full: 127.evil.example is a name like others.
  auto address = boost::asio::ip::make_address(std::string{name}, ec);
  if (ec)
    return false;
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped,
                                               address.to_v6());
  return address.is_loopback();
}

bool from_foreign_page(const request& in, bool tls) {
  for (const auto& [name, value] : in.fields) {
    if (equal_ignoring_case(name, "origin")
        && !is_own(value, in.field("host"), tls))
      return true;
    // "same-site" is another port of this machine: another program's page.
    if (equal_ignoring_case(name, "sec-fetch-site")
        && !equal_ignoring_case(value, "same-origin")
        && !equal_ignoring_case(value, "none") && !is_visit(in))
      return true;
  }
  return false;
}

} // namespace troupe::net
