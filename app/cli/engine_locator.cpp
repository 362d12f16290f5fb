#include "app/cli/engine_locator.hpp"

#include "app/assembly/engine_lock.hpp"
#include "app/assembly/options_from_settings.hpp"
#include "app/cli/blocking_client.hpp"
#include "app/daemon/engine_process.hpp"
#include "app/daemon/http_options.hpp"
#include "runtime/base/unix_address.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace troupe {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Somebody who listens on this machine accepts at once.
constexpr std::chrono::seconds knock_patience{2};
constexpr std::size_t max_key_bytes = 4096;
constexpr std::string_view unix_scheme = "unix://";

error unusable(const net::base_url& server, const std::string& why) {
  return {
    ec::unavailable,
    server.text() + " " + why
      + "; set another engine with --server, or another address with --listen",
    {},
    {}};
}

result<secret> read_key(const session_options& how) {
  if (how.key_file.empty()) {
    auto said = std::getenv("TROUPE_API_KEY");
    return secret{said ? said : ""};
  }
  std::ifstream file{how.key_file};
  std::string text(max_key_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  if (text.empty())
    return bad_field("--key-file", "contains no key: " + how.key_file,
                     "write the key printed by `troupe key create` to it");
  return secret{std::move(text)};
}

/// No name is looked up: any that stands for this machine will do.
net::base_url at_socket(std::string path) {
  net::base_url out;
  out.tls = false;
  out.host = "localhost";
  out.port = 80;
  out.socket = std::move(path);
  return out;
}

/// A wildcard is where one listens; one connects to this machine then.
std::string address_to_ask(const settings& s) {
  auto address = s.http.listen;
  for (std::string_view any : {"0.0.0.0:", "[::]:", "*:"})
    if (address.starts_with(any))
      address = "127.0.0.1:" + address.substr(any.size());
  return (s.http.tls_certificate.empty() ? "http://" : "https://") + address;
}

/// Whether nobody listens there: only then is the data nobody's.
bool is_free(const net::base_url& server) {
  asio::io_context io;
  boost::system::error_code why;
  tcp::resolver names{io};
  auto places = names.resolve(server.host, std::to_string(server.port), why);
  if (why)
    return false;
  why = asio::error::timed_out;
  tcp::socket link{io};
  asio::async_connect(
    link, places,
    [&](boost::system::error_code code, const tcp::endpoint&) { why = code; });
  io.run_for(knock_patience);
  return why == asio::error::connection_refused;
}

result<void> knock(const engine_locator& place) {
  auto options = place.client;
  options.connect_timeout = knock_patience;
  blocking_client client{options};
  net::client_request request;
  request.service = place.server;
  request.target = "/livez";
  request.deadline = std::chrono::steady_clock::now() + knock_patience;
  request.tries = 1;
  auto ended = client.send(std::move(request));
  if (!ended.answer)
    return unusable(place.server,
                    "is in use and does not answer ("
                      + ended.answer.error().text + ")");
  if (ended.answer->status == 421)
    return unusable(place.server,
                    "only accepts other host names (http.allowed-hosts)");
  if (!ended.answer->ok())
    return unusable(place.server, "is not a troupe engine");
  return {};
}

result<engine_locator> named_place(const session_options& how,
                                   const std::string& address) {
  engine_locator place;
  auto key = read_key(how);
  if (!key)
    return key.error();
  place.key = std::move(*key);
  place.client.ca_file = how.ca_file;
  place.client.certificate_file = how.certificate;
  place.client.key_file = how.certificate_key;
  if (address.starts_with(unix_scheme)) {
    place.server = at_socket(address.substr(unix_scheme.size()));
    return place;
  }
  auto server = net::parse_base_url(address);
  if (!server)
    return std::move(server).error().within("--server");
  place.server = std::move(*server);
  return place;
}

/// The engine that has this data, if it lets us in as its operator.
result<std::optional<engine_locator>>
place_of_operator(const session_options& how, const settings& s) {
  const auto path = operator_socket_of(s);
  const auto at = unix_address::of(path);
  const unique_fd open{at ? connect_to(*at) : -1};
  if (!open)
    return std::optional<engine_locator>{};
  auto place = named_place(
    how, std::string{unix_scheme} + std::filesystem::absolute(path).string());
  if (!place)
    return place.error();
  return std::optional{std::move(*place)};
}

std::string named_by(const session_options& how) {
  auto said = std::getenv("TROUPE_SERVER");
  return how.server.empty() && said ? said : how.server;
}

/// The engine of these settings, if somebody serves there.
result<std::optional<engine_locator>> place_of(const session_options& how,
                                               const settings& s) {
  if (s.http.listen.ends_with(":0"))
    return std::optional<engine_locator>{}; // some port: not to be found by it
  auto place = named_place(how, address_to_ask(s));
  if (!place)
    return place.error();
  // It shows the certificate of these very settings, for whatever name.
  if (how.ca_file.empty())
    place->client.only_certificate
      = expand_home(s.http.tls_certificate).string();
  if (is_free(place->server))
    return std::optional<engine_locator>{};
  if (auto fine = knock(*place); !fine)
    return fine.error();
  return std::optional{std::move(*place)};
}

/// Who can open the data may do everything with it, key or not.
result<engine_locator> open_own(configuration what) {
  what.values.http.listen.clear(); // no port that other users could ask
  what.values.http.tls_certificate.clear();
  what.values.http.tls_key.clear();
  what.values.http.tls_client_ca.clear();
  const auto& data = what.values.engine.data_dir;
  std::error_code code;
  const bool is_new = !std::filesystem::exists(expand_home(data), code);
  auto own = engine_process::open(what);
  if (!own)
    return own.error();
  if (is_new)
    std::cerr << "troupe: created the data directory " << data
              << " (another one: --data-dir; an engine that serves: "
                 "--server)\n";
  engine_locator place;
  place.own = std::move(*own);
  place.server = at_socket(
    std::filesystem::absolute(operator_socket_of(what.values)).string());
  return place;
}

} // namespace

engine_locator::engine_locator() = default;
engine_locator::engine_locator(engine_locator&&) noexcept = default;
engine_locator& engine_locator::operator=(engine_locator&&) noexcept = default;
engine_locator::~engine_locator() = default;

result<std::optional<engine_locator>> find_engine(const session_options& how) {
  if (auto named = named_by(how); !named.empty()) {
    auto place = named_place(how, named);
    if (!place)
      return place.error();
    return std::optional{std::move(*place)};
  }
  auto loaded = how.from->load();
  if (!loaded)
    return loaded.error();
  auto own = place_of_operator(how, loaded->values);
  if (!own || *own)
    return own;
  return place_of(how, loaded->values);
}

result<engine_locator> find_or_open_engine(const session_options& how) {
  auto found = find_engine(how);
  if (!found)
    return found.error();
  if (*found)
    return std::move(**found);
  auto loaded = how.from->load();
  if (!loaded)
    return loaded.error();
  return open_own(std::move(*loaded));
}

std::shared_ptr<session_options> add_session_options(CLI::App& command) {
  auto options = std::make_shared<session_options>();
  auto add = [&](const char* name, std::string& into, const char* help) {
    return command.add_option(name, into, help)->group(engine_group);
  };
  add("--server", options->server,
      "An engine, http://host:port (TROUPE_SERVER; default: the one that uses "
      "the data directory, else the configured address, else an embedded "
      "engine)")
    ->type_name("URL");
  add("--key-file", options->key_file,
      "File with an API key (default: TROUPE_API_KEY)");
  add("--ca-file", options->ca_file,
      "PEM file with the CA of an https engine (default: the system's, and "
      "http.tls-certificate)");
  auto shown
    = add("--cert", options->certificate, "PEM file with a client certificate")
        ->type_name("FILE");
  auto key = add("--cert-key", options->certificate_key,
                 "PEM file with its private key")
               ->type_name("FILE");
  shown->needs(key);
  key->needs(shown);
  options->from = add_settings_options(command);
  return options;
}

} // namespace troupe
