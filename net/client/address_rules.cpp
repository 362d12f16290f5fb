#include "net/client/address_rules.hpp"

#include "runtime/base/error.hpp"

namespace troupe::net {

namespace {

bool is_written_address(const std::string& host) {
  boost::system::error_code no;
  boost::asio::ip::make_address(host, no);
  return !no || host == "localhost";
}

bool is_loopback(const std::string& host) {
  boost::system::error_code no;
  auto address = boost::asio::ip::make_address(host, no);
  return host == "localhost" || (!no && address.is_loopback());
}

} // namespace

address_rule operators_rule(const base_url& service, bool allow_private) {
  if (allow_private || is_written_address(service.host))
    return {};
  return is_public_address;
}

result<base_url> parse_replied_url(std::string_view text,
                                   const base_url& asked) {
  auto url = parse_base_url(text);
  if (url && asked.tls && !url->tls)
    return fail(ec::denied,
                asked.authority() + " names " + url->authority()
                  + " without TLS; it is not used");
  return url;
}

address_rule replied_rule(const base_url& service, const base_url& asked,
                          bool allow_private) {
  auto both_here = is_loopback(service.host) && is_loopback(asked.host);
  if (service.host == asked.host || both_here)
    return operators_rule(asked, allow_private);
  return allow_private ? address_rule{} : address_rule{is_public_address};
}

} // namespace troupe::net
