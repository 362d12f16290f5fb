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
  for (const auto& each : provider_accounts(s)) {
    if (!each.is_configured())
      continue;
    auto where = each.make(client);
    if (!where)
      return std::move(where).error().within(to_string(each.name));
    into.sandboxes.places.push_back(
      {each.name, *where, executor,
       static_cast<std::uint32_t>(each.limits().max_running)});
    made->all_.push_back(std::make_shared<provider_backend>(
      std::move(*where), leases, executor, each.limits()));
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
