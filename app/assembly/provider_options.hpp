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
#include <vector>

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

/// A provider as the settings have it: the first account of each, whether it is
/// switched on or not, then the others.
struct provider_account {
  const provider_descriptor* provider;
  backend_name name;
  const settings* as; // as long as the settings that it was found in

  bool is_configured() const { return provider->is_configured(*as); }
  provider_limits limits() const { return provider->limits(*as); }
  result<std::shared_ptr<sandbox_provider>>
  make(std::shared_ptr<net::http_client> client) const;
};
std::vector<provider_account> provider_accounts(const settings& s);
/// "e2b", "e2b.research"
result<provider_account> find_account(const settings& s, std::string_view name);

} // namespace troupe
