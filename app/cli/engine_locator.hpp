#pragma once

#include "app/cli/settings_options.hpp"
#include "net/client/http_client.hpp"
#include "runtime/base/secret.hpp"

#include <memory>
#include <optional>
#include <string>

namespace troupe {

class engine_process;

/// Where a command finds an engine, as the command line says it.
struct session_options {
  std::string server;      // "": TROUPE_SERVER, else found by the settings;
                           // http://..., https://... or unix:///SOCKET
  std::string key_file;    // "": the key is in TROUPE_API_KEY, or not needed
  std::string ca_file;     // "": the system's, or the served certificate itself
  std::string certificate; // PEM; for an engine that requires one
  std::string certificate_key;
  std::shared_ptr<settings_options> from;
};

/// Where the help lists --server and its like.
inline constexpr auto engine_group = "Engine";

/// Adds --server, --key-file, those of TLS, and those of the settings.
std::shared_ptr<session_options> add_session_options(CLI::App& command);

/// An engine, and how it is spoken to.
struct engine_locator {
  engine_locator();
  engine_locator(engine_locator&&) noexcept;
  engine_locator& operator=(engine_locator&&) noexcept;
  ~engine_locator();

  net::base_url server;
  net::client_options client;
  secret key;
  std::unique_ptr<engine_process> own; // opened here, since none was running
};

/// The engine that is named, or the one that has the data directory, if we are
/// an operator there, or the one that serves where the settings say; nothing if
/// that address is free. If something else answers there, this fails instead of
/// opening the data directory beside it.
result<std::optional<engine_locator>> find_engine(const session_options& how);

/// The same, or an engine of our own on the same data.
result<engine_locator> find_or_open_engine(const session_options& how);

} // namespace troupe
