#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"

#include <string>
#include <string_view>

namespace troupe::net {

/// A provider's refusal as one of our errors. `doing` is "create a sandbox";
/// `why` is the provider's own sentence, bounded and cleaned, for operators.
error refused(std::string_view service, std::string_view doing,
              const client_response& reply, std::string_view key_setting);

/// Whether what was asked for may have begun. An answer that refuses says no;
/// one that is no clear refusal says nothing.
bool may_have_acted(const client_exchange& done);

/// The `message` (or similar) of a JSON error body, at most 200 characters of
/// printable text.
std::string reply_message(std::string_view body);

} // namespace troupe::net
