#include "runtime/packages/install_network.hpp"

#include "runtime/model/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>

#include <memory>

namespace troupe {

namespace {

struct server {
  std::string host; // an IPv6 address without its brackets
  std::string port;
};

/// Of a URL that the settings have checked.
server server_of(std::string_view url) {
  auto scheme = url.substr(0, url.find("://"));
  url.remove_prefix(std::min(scheme.size() + 3, url.size()));
  url = url.substr(0, url.find_first_of("/?#"));
  if (auto at = url.rfind('@'); at != url.npos)
    url.remove_prefix(at + 1);
  server s{{}, scheme == "http" ? "80" : "443"};
  auto end = url.starts_with('[') ? url.find(']') : 0;
  auto colon = url.find(':', end == url.npos ? 0 : end);
  s.host = url.substr(0, colon);
  if (colon != url.npos)
    s.port = url.substr(colon + 1);
  if (s.host.starts_with('[') && s.host.ends_with(']'))
    s.host = s.host.substr(1, s.host.size() - 2);
  return s;
}

/// A name alone never opens an address of the house: those are named, too.
void add_addresses(const server& s, std::vector<std::string>& allow) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(s.host.c_str(), s.port.c_str(), &wanted, &list) != 0)
    return; // the installer says so itself
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned{list, ::freeaddrinfo};
  for (; list; list = list->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text,
                      nullptr, 0, NI_NUMERICHOST)
        != 0)
      continue;
    const bool v6 = list->ai_family == AF_INET6;
    allow.push_back((v6 ? "[" + std::string{text} + "]" : std::string{text})
                    + ":" + s.port);
  }
}

void add_server(const std::string& url, std::vector<std::string>& allow) {
  if (url.empty())
    return;
  auto s = server_of(url);
  if (!parse_address(s.host))
    allow.push_back(s.host + ":" + s.port);
  add_addresses(s, allow);
}

} // namespace

result<network_policy> install_network(const environment_spec& spec,
                                       const environment_options& options) {
  auto policy = options.network;
  const bool needs_pip = !spec.pip.empty() && options.pip_index;
  const bool needs_npm = !spec.npm.empty() && options.npm_links.empty();
  if (policy.mode == network_mode::off) {
    if (needs_pip || needs_npm)
      return error{ec::denied,
                   "packages cannot be installed while local.network is off; "
                   "an operator can set it to allow and list the hosts of the "
                   "package index in local.network-allow",
                   {},
                   {}};
    return policy;
  }
  std::vector<std::string> named;
  if (needs_pip)
    add_server(options.pip_index_url, named);
  if (needs_npm)
    add_server(options.npm_registry, named);
  if (named.empty())
    return policy;
  if (policy.mode == network_mode::open)
    policy = {network_mode::listed, {"public"}};
  policy.allow.insert(policy.allow.end(), named.begin(), named.end());
  return policy;
}

} // namespace troupe
