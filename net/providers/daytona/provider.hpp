#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/sandbox.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace troupe::net {

struct daytona_options {
  secret api_key; // DAYTONA_API_KEY; empty: not configured
  std::string api_url = "https://app.daytona.io/api"; // DAYTONA_API_URL
  std::string target{};       // DAYTONA_TARGET: a region
  std::string snapshot{};     // of configs that name neither image nor snapshot
  std::string organization{}; // DAYTONA_ORGANIZATION_ID, with a JWT only
  /// Its names may lead to private addresses: self-hosted.
  bool allow_private = false;
  /// Between two looks at a sandbox or command in its first seconds; from then
  /// on it doubles up to `poll_max`.
  std::chrono::milliseconds poll_first{100};
  std::chrono::milliseconds poll_often{5'000};
  std::chrono::milliseconds poll_max{1'000};
};

result<std::shared_ptr<sandbox_provider>>
make_daytona(std::shared_ptr<http_client> client, daytona_options options);

} // namespace troupe::net
