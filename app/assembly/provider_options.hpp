#pragma once

#include "net/providers/aio/provider.hpp"
#include "net/providers/daytona/provider.hpp"
#include "net/providers/e2b/provider.hpp"
#include "net/providers/modal/endpoint.hpp"
#include "net/providers/modal/provider.hpp"
#include "net/providers/webhook/webhook.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "runtime/settings/settings.hpp"

#include <span>
#include <string>
#include <string_view>

/// What config.ini says about providers, in the words of net/providers.
namespace troupe {

net::e2b_options e2b_options_from(const settings& s);
net::modal_options modal_options_from(const settings& s);
net::modal_endpoint_options modal_endpoint_options_from(const settings& s);
net::daytona_options daytona_options_from(const settings& s);
net::aio_options aio_options_from(const settings& s);
net::webhook_options webhook_options_from(const settings& s);

/// What the engine's settings say about one provider, and how it is opened.
struct provider_descriptor {
  backend_kind kind;
  std::string_view way_in; // how one switches it on
  bool (*is_configured)(const settings&);
  std::string (*address)(const settings&);
  /// How many sandboxes it may have at a time, and what else bounds it.
  provider_limits (*limits)(const settings&);
  /// Whether it is switched on or not: `ready` says what is missing.
  result<std::shared_ptr<sandbox_provider>> (*make)(
    const settings&, std::shared_ptr<net::http_client>);
};

/// Every provider that there is: the one table of them.
std::span<const provider_descriptor> known_providers();
/// That of a kind; null: it is no provider.
const provider_descriptor* find_provider(backend_kind kind);

} // namespace troupe
