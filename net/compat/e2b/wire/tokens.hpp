#pragma once

#include "runtime/base/secret.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What opens a sandbox to an E2B client without a key of the API.
namespace troupe::net::e2b_facade {

/// Makes the access tokens of sandboxes: the id, and a digest of it under a key
/// of this process. So a token stays the same over a pause and its sandbox can
/// be told from it, while nothing has to be kept. Thread-safe.
class token_maker {
public:
  token_maker(); // a fresh key
  explicit token_maker(std::string key) : key_{std::move(key)} {}

  secret token_of(std::string_view sandbox) const;
  bool is_token_of(std::string_view token, std::string_view sandbox) const;
  /// For ports of a sandbox that are not for everybody who knows its id.
  secret traffic_token_of(std::string_view sandbox) const;

private:
  secret token_for(std::string_view use, std::string_view sandbox) const;

  secret key_;
};

/// The id in a token, of which nothing else is known; "": it has none.
std::string_view sandbox_of_token(std::string_view token);

/// A file whose bearer needs no token.
struct signed_file {
  std::string path; // as it was given
  bool write = false;
  std::string user;                       // "": none was given
  std::optional<std::int64_t> expiration; // seconds since 1970
};

/// "v1_..." as the clients compute it.
std::string signature_of(const signed_file& what, std::string_view token);

} // namespace troupe::net::e2b_facade
