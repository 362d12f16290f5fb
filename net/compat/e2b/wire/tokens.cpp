#include "net/compat/e2b/wire/tokens.hpp"

#include "net/compat/e2b/wire/routing.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/digest.hpp"

#include <sys/random.h>

#include <stdexcept>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t key_bytes = 32;

std::string random_key() {
  std::string key(key_bytes, '\0');
  if (::getrandom(key.data(), key.size(), 0) != ssize_t{key_bytes})
    throw std::runtime_error("no random bytes"); // there is no fallback
  return key;
}

std::string_view bytes_of(const sha256_digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

} // namespace

token_maker::token_maker() : key_{random_key()} {}

secret token_maker::token_of(std::string_view sandbox) const {
  return token_for("envd:", sandbox);
}

secret token_maker::traffic_token_of(std::string_view sandbox) const {
  return token_for("traffic:", sandbox);
}

secret token_maker::token_for(std::string_view use,
                              std::string_view sandbox) const {
  // Twice, so that nothing can be appended to what was hashed.
  const auto inner = sha256_joined({key_.reveal(), use, sandbox});
  const auto outer = sha256_joined({key_.reveal(), bytes_of(inner)});
  return secret{std::string{sandbox} + "_" + hex(outer)};
}

bool token_maker::is_token_of(std::string_view token,
                              std::string_view sandbox) const {
  return equal_in_constant_time(token, token_of(sandbox).reveal());
}

std::string_view sandbox_of_token(std::string_view token) {
  const auto id = token.substr(0, token.find('_'));
  return id.size() < token.size() && is_sandbox_name(id) ? id
                                                         : std::string_view{};
}

std::string signature_of(const signed_file& what, std::string_view token) {
  std::string raw{what.path};
  raw.append(what.write ? ":write:" : ":read:").append(what.user);
  raw.append(1, ':').append(token);
  if (what.expiration)
    raw.append(1, ':').append(std::to_string(*what.expiration));
  const auto digest = sha256(raw);
  wipe(raw);
  auto text = frame::to_base64(bytes_of(digest));
  text.erase(text.find_last_not_of('=') + 1);
  return "v1_" + text;
}

} // namespace troupe::net::e2b_facade
