#include "app/daemon/http_options.hpp"

#include "app/assembly/options_from_settings.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Pages carry cookies and addresses that the API never sees.
constexpr std::size_t longest_page_head = 64u << 10;

/// As the listener sees a Host header: lower case, an IPv6 address bare.
std::vector<std::string> hosts_from(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (std::string name : texts) {
    if (name.starts_with('['))
      name = name.substr(1, name.size() - 2);
    for (char& c : name)
      if (c >= 'A' && c <= 'Z')
        c = static_cast<char>(c | 0x20);
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace

std::filesystem::path operator_socket_of(const settings& s) {
  return store_options_from(s).data_directory / "operator.sock";
}

net::server_options server_options_from(const settings& s) {
  auto& h = s.http;
  net::server_options o;
  o.listen.clear();
  if (!h.listen.empty()) // an engine of one command serves nobody else
    o.listen = {h.listen};
  o.operator_socket = operator_socket_of(s);
  o.threads = s.engine.io_threads;
  o.auth
    = h.require_key ? net::auth_mode::required : net::auth_mode::loopback_open;
  o.allowed_hosts = hosts_from(h.allowed_hosts);
  o.tls_certificate_file = expand_home(h.tls_certificate).string();
  o.tls_key_file = expand_home(h.tls_key).string();
  o.tls_client_ca_file = expand_home(h.tls_client_ca).string();
  o.head_limit = h.max_header;
  o.in_flight_limit = h.max_in_flight;
  o.connection_limit = h.max_connections;
  o.connections_per_address = h.max_connections_per_address;
  o.head_timeout = h.header_timeout;
  o.body_timeout = h.body_timeout;
  o.idle_timeout = h.idle_timeout;
  o.write_timeout = h.write_timeout;
  o.metrics = s.telemetry.metrics;
  o.open_details = s.telemetry.metrics_without_key;
  return o;
}

net::server_options preview_server_options_from(const settings& s) {
  auto o = server_options_from(s);
  o.listen = {s.sandbox.preview_listen};
  o.pages_of_tenants = true;
  o.metrics = false;
  o.head_limit = longest_page_head;
  o.target_limit = longest_page_head / 2;
  return o;
}

net::server_options e2b_server_options_from(const settings& s) {
  auto o = server_options_from(s);
  o.listen = {s.compat.e2b_listen};
  o.operator_socket.clear(); // the first listener has it
  o.metrics = false;
  return o;
}

net::preview_options preview_options_from(const settings& s) {
  net::preview_options o;
  o.domain = hosts_from({s.sandbox.preview_domain}).front();
  o.public_ports = s.sandbox.public_ports;
  return o;
}

net::api_options api_options_from(const settings& s) {
  net::api_options o;
  o.run_body_limit = s.http.max_body;
  o.remember_for = std::chrono::ceil<std::chrono::hours>(s.idempotency.ttl);
  o.defaults = config_defaults_from(s);
  return o;
}

net::mcp::mcp_options mcp_options_from(const settings& s) {
  net::mcp::mcp_options o;
  o.body_limit = std::max<std::size_t>(o.body_limit, s.http.max_body);
  o.rules.longest_life = s.sandbox.max_life;
  o.rules.characters = s.mcp.result_chars;
  o.calls_at_once = s.mcp.max_calls;
  o.streams_at_once = s.mcp.max_streams;
  return o;
}

net::letta::letta_options letta_options_from(const settings& s) {
  net::letta::letta_options o;
  o.body_limit = s.http.max_body;
  o.defaults = config_defaults_from(s);
  if (s.compat.letta_secure)
    o.password = s.compat.letta_password;
  return o;
}

} // namespace troupe
