#pragma once

#include "net/providers/aio/provider.hpp"
#include "net/providers/daytona/provider.hpp"
#include "net/providers/e2b/provider.hpp"
#include "net/providers/modal/endpoint.hpp"
#include "net/providers/modal/provider.hpp"
#include "net/providers/remote_backend.hpp"
#include "net/providers/webhook/webhook.hpp"
#include "runtime/settings/settings.hpp"

#include <vector>

/// What config.ini says about providers, in the words of net/providers.
namespace troupe {

net::e2b_options e2b_options_from(const settings& s);
net::modal_options modal_options_from(const settings& s);
net::modal_endpoint_options modal_endpoint_options_from(const settings& s);
net::daytona_options daytona_options_from(const settings& s);
net::aio_options aio_options_from(const settings& s);
net::webhook_options webhook_options_from(const settings& s);

/// The bounds of one provider.
net::remote_options bounds_from(const settings& s, backend_kind kind);

/// Whether the settings switch a provider on.
bool is_configured(const settings& s, backend_kind kind);
/// How one switches it on.
std::string_view way_in(backend_kind kind);

/// One provider, whether it is switched on or not: `ready` says what is
/// missing. Modal's deployed runner goes before its API.
result<std::shared_ptr<net::provider>>
make_provider(const settings& s, backend_kind kind,
              std::shared_ptr<net::http_client> client);

} // namespace troupe
