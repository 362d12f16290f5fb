#include "runtime/settings/value_format.hpp"

#include "runtime/model/host_pattern.hpp"
#include "runtime/settings/value.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

constexpr std::size_t longest = 4096; // PATH_MAX; no setting needs more

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
    || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 253
    && std::all_of(text.begin(), text.end(), is_host_character);
}

bool is_bracketed_v6(std::string_view text) {
  return text.size() > 2 && text.front() == '[' && text.back() == ']'
    && text.find_first_not_of("0123456789abcdefABCDEF:.", 1) == text.size() - 1;
}

bool is_variable(std::string_view text) {
  return std::ranges::all_of(
    text, [](char c) { return is_host_character(c) && c != '-' && c != '.'; });
}

result<void> check_url(std::string_view text) {
  auto rest = text;
  if (rest.starts_with("https://"))
    rest.remove_prefix(8);
  else if (rest.starts_with("http://"))
    rest.remove_prefix(7);
  else
    return bad_request("does not begin with https:// or http://");
  if (text.find_first_of(" \"<>\\^`{|}#") != text.npos)
    return bad_request("has a character that is not allowed in URLs");
  auto authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.find('@') != authority.npos)
    return bad_request("has a user name; keys have their own settings");
  auto colon = authority.rfind(':');
  auto v6_end = authority.rfind(']');
  auto has_port
    = colon != authority.npos && (v6_end == authority.npos || colon > v6_end);
  if (has_port) {
    if (auto fine = parse_host_port(authority); !fine)
      return fine.error();
    return {};
  }
  if (!is_host(authority) && !is_bracketed_v6(authority))
    return bad_request("has no host");
  return {};
}

result<void> check_choice(const setting_key& key, std::string_view text) {
  for (auto left = key.choices; !left.empty();) {
    auto bar = left.find('|');
    if (left.substr(0, bar) == text)
      return {};
    left = bar == left.npos ? "" : left.substr(bar + 1);
  }
  return bad_request("is not one of the choices");
}

std::string range(const setting_key& key, const setting_slot& slot) {
  auto spell = [&](double value) {
    if (std::holds_alternative<std::uint64_t*>(slot) && !key.is_count)
      return spell_size(static_cast<std::uint64_t>(value));
    if (std::holds_alternative<std::chrono::milliseconds*>(slot))
      return spell_duration(
        std::chrono::milliseconds{static_cast<std::int64_t>(value)});
    return std::to_string(static_cast<std::int64_t>(value));
  };
  return " from " + spell(key.min) + " to " + spell(key.max);
}

struct expectation {
  const setting_key& key;
  const setting_slot& slot;

  std::string operator()(bool*) const { return "true or false"; }
  std::string operator()(std::uint32_t*) const {
    return "a whole number" + range(key, slot);
  }
  std::string operator()(std::uint64_t*) const {
    if (key.is_count)
      return "a whole number" + range(key, slot);
    return "a size such as \"64MiB\"" + range(key, slot);
  }
  std::string operator()(double*) const {
    return "a number" + range(key, slot);
  }
  std::string operator()(std::chrono::milliseconds*) const {
    return "a duration such as 90s" + range(key, slot);
  }
  std::string operator()(secret*) const { return "a text (secret)"; }
  std::string operator()(std::vector<std::string>*) const {
    switch (key.form) {
    case text_form::address:
      return R"(a list such as ["node-2.example.org:8284"])";
    case text_form::host:
      return R"(a list of host names such as ["example.org", "[::1]"])";
    case text_form::host_rule:
      return R"(a list such as ["example.org:443", "*.example.org"])";
    case text_form::variable:
      return R"(a list of names such as ["TZ", "LANG"])";
    default:
      return R"(a list such as ["a", "b"])";
    }
  }
  std::string operator()(std::string*) const {
    switch (key.form) {
    case text_form::any:
      return "a text";
    case text_form::address:
      return "an address such as \"127.0.0.1:8283\"";
    case text_form::url:
      return "a URL such as \"https://host/path\"";
    case text_form::host:
      return "a host name";
    case text_form::host_rule:
      return "a host, host:port, *.domain or a CIDR";
    case text_form::variable:
      return "the name of a variable";
    case text_form::path:
      return "a path";
    case text_form::choice: {
      std::string all{key.choices};
      for (std::size_t at; (at = all.find('|')) != all.npos;)
        all.replace(at, 1, ", ");
      return "one of " + all;
    }
    }
    return "a text";
  }
};

} // namespace

std::string setting_key::expects() const {
  settings probe;
  auto where = slot(probe);
  return std::visit(expectation{*this, where}, where);
}

result<void> check_form(const setting_key& key, std::string_view text) {
  if (text.size() > longest)
    return bad_request("is longer than 4096 bytes");
  if (std::any_of(text.begin(), text.end(), is_control))
    return bad_request("has a control character");
  if (key.form == text_form::choice)
    return check_choice(key, text);
  if (text.empty())
    return {};
  if (key.form == text_form::url)
    return check_url(text);
  if (key.form == text_form::host && !is_host(text) && !is_bracketed_v6(text))
    return bad_request("is not a host name");
  if (key.form == text_form::host_rule && !parse_host_pattern(text))
    return bad_request("is not a host, host:port, *.domain or CIDR");
  if (key.form == text_form::variable && !is_variable(text))
    return bad_request("is not a variable name");
  if (key.form == text_form::address)
    if (auto fine = parse_host_port(text); !fine)
      return fine.error();
  return {};
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "\"";
}

result<host_port> parse_host_port(std::string_view text) {
  auto colon = text.rfind(':');
  if (colon == text.npos)
    return bad_request("has no port");
  auto host = text.substr(0, colon);
  auto digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  auto* end = digits.data() + digits.size();
  auto [at, bad] = std::from_chars(digits.data(), end, port);
  if (bad != std::errc{} || at != end)
    return bad_request("has no port from 0 to 65535");
  if (is_bracketed_v6(host))
    return host_port{std::string{host.substr(1, host.size() - 2)}, port};
  if (!is_host(host))
    return bad_request("has no host");
  return host_port{std::string{host}, port};
}

} // namespace troupe
