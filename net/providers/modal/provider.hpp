#pragma once

#include "net/client/http_client.hpp"
#include "net/grpc/grpc_channel.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/sandbox.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace troupe::net {

struct modal_options {
  secret token_id;     // MODAL_TOKEN_ID; both empty: not configured
  secret token_secret; // MODAL_TOKEN_SECRET
  std::string server_url = "https://api.modal.com"; // MODAL_SERVER_URL
  std::string environment{};     // MODAL_ENVIRONMENT; "": the workspace's
  std::string app = "troupe";    // sandboxes live in an app of this name
  std::string builder_version{}; // "": what the environment says
  std::string python_image = "python:3.12-slim-bookworm";
  std::string node_image = "node:22-bookworm-slim";
  /// Modal knows its own clients only; kept changeable since it may change.
  std::string client_type = "8";
  std::string client_version = "1.0.0";
  std::string libmodal_version = "modal-js/0.11.1";
  std::string ca_file{}; // "": the system's store
  /// Its names may lead to private addresses: a Modal of one's own.
  bool allow_private = false;
  /// MODAL_SANDBOX_V2: the newer generation of sandboxes first.
  bool newer_sandboxes = true;
  std::chrono::seconds max_throttle_wait{60};
  std::chrono::milliseconds first_delay{100}; // before it asks again; doubles
  /// Between two looks for the task of an older sandbox.
  std::chrono::milliseconds task_pause{500};
};

/// The native API of Modal: gRPC with its API tokens.
result<std::shared_ptr<sandbox_provider>>
make_modal(std::shared_ptr<http_client> client, modal_options options);

} // namespace troupe::net
