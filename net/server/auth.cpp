#include "net/server/auth.hpp"

#include "net/server/site.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/api_key.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

constexpr std::size_t longest_credential = 512;
// One text for whatever is wrong with a key.
constexpr std::string_view invalid_key
  = "this API key is not valid; the operator of this server can create one "
    "with 'troupe key create'";

refusal unauthorized(std::string_view text) {
  return {401, "unauthorized", std::string{text}};
}

/// As Letta's clients send it: as their token, or in a field of its own.
bool knows_password(const request& in, const secret& password) {
  std::string_view bearer{"bearer "}, bare{"password "};
  auto token = in.field("authorization");
  auto given = in.count("authorization");
  auto prefix = bearer;
  if (given == 0) {
    token = in.field("x-bare-password");
    given = in.count("x-bare-password");
    prefix = bare;
  }
  if (given != 1 || token.size() > longest_credential
      || token.size() <= prefix.size()
      || !equal_ignoring_case(token.substr(0, prefix.size()), prefix))
    return false;
  // Digests: of one length whatever was given.
  return equal_in_constant_time(hash_key(trim(token.substr(prefix.size()))),
                                hash_key(password.reveal()));
}

/// "the scope 'config'", for people.
std::string scope_names(int bits) {
  std::string out;
  for (const auto& [bit, name] : named_scopes)
    if (bits & static_cast<int>(bit))
      out.append(out.empty() ? "the scope '" : " and '")
        .append(name)
        .append("'");
  return out;
}

/// Null: there is none of that text.
std::shared_ptr<const api_key> find_key(const catalog* current,
                                        std::string_view text) {
  if (current == nullptr)
    return nullptr;
  const auto hash = hash_key(text);
  const auto found = current->keys_by_hash.find(hash);
  return found != current->keys_by_hash.end()
      && equal_in_constant_time(found->second->hash, hash)
    ? found->second
    : nullptr;
}

bool has_expired(const api_key& key) {
  return key.expires_at && *key.expires_at <= std::chrono::system_clock::now();
}

caller caller_of(const api_key& key) {
  caller who;
  who.organization = key.organization;
  who.user = default_user();
  who.key = key.id;
  who.scopes = with_included(key.scopes);
  return who;
}

} // namespace

std::optional<caller> caller_of_key(const catalog* current,
                                    std::string_view text) {
  if (text.size() > longest_credential || !is_key_text(text))
    return std::nullopt;
  const auto key = find_key(current, text);
  if (!key || has_expired(*key))
    return std::nullopt;
  auto who = caller_of(*key);
  if ((who.scopes & static_cast<std::uint8_t>(scope::run)) == 0)
    return std::nullopt;
  return who;
}

bool request_guard::known_host(std::string_view name) const {
  if (operators_)
    return true; // no name led there, and no browser comes
  const auto& allowed = state_.options.allowed_hosts;
  for (const auto& one : allowed)
    // As it is, an IPv6 address without brackets; or with port and capitals.
    if (one == name || host_name(one) == name)
      return true;
  if (loopback_)
    return is_loopback_name(name);
  // A rebound name is a name: whoever gives our address came to it himself.
  return allowed.empty() || name == own_address();
}

std::string request_guard::own_address() const {
  bool mapped = local_.is_v6() && local_.to_v6().is_v4_mapped();
  return mapped ? boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped,
                                                   local_.to_v6())
                    .to_string()
                : local_.to_string();
}

std::optional<refusal> request_guard::check_site(const request& in,
                                                 bool tls) const {
  if (state_.options.pages_of_tenants)
    return std::nullopt;
  auto host = in.field("host");
  if (!host.empty()) {
    auto name = host_name(host);
    if (!name || !known_host(*name))
      return refusal{421, "misdirected_request",
                     "this Host is not allowed; the operator can add it to "
                     "http.allowed-hosts"};
  }
  // Whatever it asks for: what changes something today is a POST, tomorrow
  // somebody adds a GET.
  if (!from_foreign_page(in, tls))
    return std::nullopt;
  return refusal{403, "cross_site",
                 "requests from pages of other sites are not accepted; send "
                 "them from a program or from a page of this server"};
}

std::optional<refusal>
request_guard::admit(const request& in, const route_rules& rules, caller& who) {
  who.request_id = in.id;
  if (rules.public_route || (rules.public_on_loopback && shows_details())) {
    // A probe needs no key, but a valid one may see the details.
    constexpr std::string_view scheme = "bearer ";
    const auto given = in.field("authorization");
    if (rules.health_route && in.count("authorization") == 1
        && equal_ignoring_case(given.substr(0, scheme.size()), scheme))
      (void)admit_key(trim(given.substr(scheme.size())), who);
    return std::nullopt;
  }
  if (operators_ && !in.has("authorization"))
    return admit_anonymous(in, scope::operate, who);
  if (rules.port_token && in.count("authorization") == 0
      && (in.has("x-troupe-port-token")
          || in.query.find("troupe_token=") != in.query.npos))
    return std::nullopt;
  if (rules.password && knows_password(in, *rules.password))
    return admit_anonymous(in, scope::admin, who);
  bool anonymous = !rules.password && loopback_
    && state_.options.auth == auth_mode::loopback_open;
  auto given = in.count("authorization");
  auto value = in.field("authorization");
  if (given == 0 && rules.ignore_foreign_credentials && in.has("x-api-key")) {
    given = in.count("x-api-key"); // as the E2B clients send theirs
    value = in.field("x-api-key");
  } else if (given == 1 && value.size() > 7
             && equal_ignoring_case(value.substr(0, 7), "bearer ")) {
    value = trim(value.substr(7));
  } else if (given != 0 && !(anonymous && rules.ignore_foreign_credentials)) {
    return unauthorized(
      "send a single 'Authorization: Bearer troupe_...' field");
  }
  if (rules.password && !is_key_text(value))
    return unauthorized("wrong password; use the one in the server's settings");
  if (given == 0
      || (anonymous && rules.ignore_foreign_credentials && is_foreign(value))) {
    if (!anonymous)
      return unauthorized(
        "an API key is required: 'Authorization: Bearer troupe_...'");
    return admit_anonymous(in, scope::operate, who);
  }
  if (auto bad = admit_key(value, who))
    return bad;
  const int missing = rules.needs & ~who.scopes;
  if (missing == 0)
    return std::nullopt;
  if (missing & static_cast<int>(scope::operate))
    return refusal{403, "scope_missing",
                   "this concerns every organization: "
                     + std::string{operators_only}};
  return refusal{
    403, "scope_missing",
    "this API key lacks " + scope_names(missing)
      + "; use a key that has it: an admin or operator creates one "
        "with `troupe key create` or POST /v1/keys"};
}

/// No key of ours: those of E2B look alike, wherever they come from.
bool request_guard::is_foreign(std::string_view text) const {
  return !is_key_text(text)
    || (is_e2b_key_text(text) && !find_key(state_.core.snapshot().get(), text));
}

std::optional<refusal> request_guard::admit_anonymous(const request& in,
                                                      scope highest,
                                                      caller& who) const {
  who.organization = default_organization();
  who.user = default_user();
  who.scopes = with_included(static_cast<std::uint8_t>(highest));
  // As Letta's clients name the acting user; it is a label, not a right.
  if (auto user = in.field("user_id"); !user.empty()) {
    auto id = user_id::parse(user);
    if (!id)
      return refusal{400, "bad_user_id",
                     "user_id must have the form user-<uuid4>"};
    who.user = std::move(*id);
  }
  return std::nullopt;
}

std::optional<refusal> request_guard::admit_key(std::string_view text,
                                                caller& who) {
  if (text.size() > longest_credential || !is_key_text(text))
    return unauthorized(invalid_key);
  auto current = state_.core.snapshot();
  if (current != key_catalog_ || !key_
      || !equal_in_constant_time(text, key_text_)) {
    key_ = find_key(current.get(), text);
    key_text_ = text;
    key_catalog_ = current;
  }
  if (!key_ || has_expired(*key_))
    return unauthorized(invalid_key);
  auto id = std::move(who.request_id);
  who = caller_of(*key_);
  who.request_id = std::move(id);
  return std::nullopt;
}

} // namespace troupe::net
