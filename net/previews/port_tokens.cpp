#include "net/previews/port_tokens.hpp"

#include "runtime/base/digest.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

namespace troupe::net {

namespace {

constexpr std::size_t token_letters = 64; // 32 bytes

std::string digest_of(std::string_view token) {
  const auto digest = sha256(token);
  return hex(digest);
}

result<secret> make_token() {
  std::array<std::uint8_t, token_letters / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0)
      != static_cast<ssize_t>(bytes.size()))
    return fail(ec::unavailable, "the kernel gave no random bytes");
  return secret{hex(bytes)};
}

} // namespace

result<port_tokens::opened> port_tokens::open(const caller& who,
                                              const port_name& port,
                                              std::chrono::seconds life,
                                              bool to_all,
                                              clock::time_point now) {
  auto token = make_token();
  if (!token)
    return token.error();
  std::lock_guard lock{mutex_};
  forget_expired(now);
  std::size_t ports = 0, tokens = 0;
  for (const auto& [name, e] : entries_) {
    ports += name.sandbox == port.sandbox && name != port;
    tokens += e.who.organization == who.organization ? e.tokens.size() : 0;
  }
  if (ports >= most_ports)
    return fail(ec::exhausted,
                "the sandbox has " + std::to_string(ports)
                  + " ports open already; close one with DELETE");
  const auto known = entries_.find(port);
  if (tokens >= most_of_organization
      || (known != entries_.end()
          && known->second.tokens.size() >= most_tokens))
    return fail(ec::exhausted,
                "the port has as many tokens as it may have; use one of them, "
                "or close the port with DELETE, which ends them all");
  auto& e = entries_[port];
  e.who.organization = who.organization;
  e.who.user = who.user;
  e.who.scopes = static_cast<std::uint8_t>(scope::run);
  opened made{std::move(*token), now + life};
  e.tokens[digest_of(made.token.reveal())] = made.expires_at;
  if (to_all)
    e.public_until = std::max(e.public_until, made.expires_at);
  return made;
}

void port_tokens::revoke(const organization_id& organization,
                         const port_name& port) {
  std::lock_guard lock{mutex_};
  auto i = entries_.find(port);
  if (i == entries_.end() || i->second.who.organization != organization)
    return;
  entries_.erase(i);
}

std::optional<caller> port_tokens::caller_of(std::string_view token,
                                             const port_name& port,
                                             clock::time_point now) const {
  const auto digest
    = token.size() == token_letters ? digest_of(token) : std::string{};
  std::lock_guard lock{mutex_};
  const auto i = entries_.find(port);
  if (i == entries_.end())
    return std::nullopt;
  const auto& e = i->second;
  const auto known = e.tokens.find(digest);
  if (e.public_until > now || (known != e.tokens.end() && known->second > now))
    return e.who;
  return std::nullopt;
}

std::vector<port_tokens::listed>
port_tokens::ports_of(const organization_id& organization,
                      const sandbox_id& sandbox, clock::time_point now) {
  std::lock_guard lock{mutex_};
  forget_expired(now);
  std::vector<listed> found;
  for (const auto& [name, e] : entries_)
    if (name.sandbox == sandbox && e.who.organization == organization)
      found.push_back({name.port, e.public_until > now});
  return found;
}

void port_tokens::forget_expired(clock::time_point now) {
  for (auto i = entries_.begin(); i != entries_.end();) {
    std::erase_if(i->second.tokens,
                  [now](const auto& t) { return t.second <= now; });
    i = i->second.tokens.empty() ? entries_.erase(i) : std::next(i);
  }
}

} // namespace troupe::net
