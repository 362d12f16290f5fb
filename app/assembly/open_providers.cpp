#include "app/assembly/open_providers.hpp"

#include "app/assembly/provider_options.hpp"

namespace troupe {

result<std::unique_ptr<open_providers>>
open_providers::open(const settings& s, std::shared_ptr<lease_book> leases,
                     engine_options& into, watchdog& watch) {
  std::unique_ptr<open_providers> made{new open_providers};
  auto executor = made->io_.executor();
  made->watched_ = watch.turns("providers", executor);
  auto client = made->client_
    = std::make_shared<net::http_client>(executor, net::client_options{});
  for (auto kind : {backend_kind::e2b, backend_kind::modal,
                    backend_kind::daytona, backend_kind::aio}) {
    if (!is_configured(s, kind))
      continue;
    auto where = make_provider(s, kind, client);
    if (!where)
      return std::move(where).error().within(to_string(kind));
    made->all_.push_back(std::make_shared<net::remote_backend>(
      std::move(*where), leases, executor, bounds_from(s, kind)));
    into.backends.push_back(made->all_.back());
  }
  if (!s.credentials.webhook_url.empty()) {
    auto webhook = net::make_webhook(client, webhook_options_from(s));
    if (!webhook)
      return webhook.error();
    into.webhook = std::move(*webhook);
  }
  return made;
}

open_providers::~open_providers() {
  for (auto& each : all_)
    each->stop();
}

} // namespace troupe
