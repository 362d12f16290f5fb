#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/sandbox.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe::net {

struct modal_endpoint_options {
  std::string url;    // MODAL_ENDPOINT_URL: of the deployed runner
  secret key;         // Modal-Key, wk-...; both empty: it asks for none
  secret secret_part; // Modal-Secret, ws-...
  /// Its name may lead to a private address.
  bool allow_private = false;
};

/// Modal by plain HTTPS: a runner that the user deployed (examples/modal) takes
/// a whole run in one request. It keeps no sandbox that we would have to end.
result<std::shared_ptr<sandbox_provider>>
make_modal_endpoint(std::shared_ptr<http_client> client,
                    modal_endpoint_options options);

/// What the runner answers.
struct endpoint_answer {
  process_end end;
  std::string out;
  std::string err;
};
result<endpoint_answer> parse_endpoint_answer(std::string_view body);

/// The target to go on waiting at, of a 303's Location; only at the same place.
result<std::string> waiting_target(const base_url& service,
                                   std::string_view location);

} // namespace troupe::net
