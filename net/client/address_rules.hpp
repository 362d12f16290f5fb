#pragma once

#include "net/client/resolver.hpp"
#include "net/http/url.hpp"

namespace troupe::net {

/// For a service that the operator wrote down. One written as an address, or
/// as localhost, is meant as it stands; a name has to lead to a public address
/// unless `allow_private`, whatever its zone says today.
address_rule operators_rule(const base_url& service, bool allow_private);

/// The URL of a service that a reply of `asked` named. What was asked for over
/// TLS does not go on in the clear.
result<base_url> parse_replied_url(std::string_view text,
                                   const base_url& asked);

/// For a service that a reply of `asked` named: nothing inside of the house,
/// unless `asked` itself is there.
address_rule replied_rule(const base_url& service, const base_url& asked,
                          bool allow_private);

} // namespace troupe::net
