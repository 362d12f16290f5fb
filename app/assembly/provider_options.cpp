#include "app/assembly/provider_options.hpp"

namespace troupe {

net::e2b_options e2b_options_from(const settings& s) {
  net::e2b_options o;
  o.api_key = s.e2b.api_key;
  o.domain = s.e2b.domain;
  o.api_url = s.e2b.api_url;
  o.sandbox_url = s.e2b.sandbox_url;
  o.template_id = s.e2b.template_id;
  o.legacy_create = s.e2b.legacy_create;
  o.allow_private = s.e2b.allow_private;
  return o;
}

net::modal_options modal_options_from(const settings& s) {
  net::modal_options o;
  o.token_id = s.modal.token_id;
  o.token_secret = s.modal.token_secret;
  o.server_url = s.modal.server_url;
  o.environment = s.modal.environment;
  o.allow_private = s.modal.allow_private;
  o.newer_sandboxes = s.modal.sandbox_v2;
  o.builder_version = s.modal.image_builder_version;
  o.max_throttle_wait
    = std::chrono::ceil<std::chrono::seconds>(s.modal.max_throttle_wait);
  o.client_type = s.modal.client_type;
  o.client_version = s.modal.client_version;
  o.libmodal_version = s.modal.libmodal_version;
  return o;
}

net::modal_endpoint_options modal_endpoint_options_from(const settings& s) {
  net::modal_endpoint_options o;
  o.url = s.modal.endpoint_url;
  o.key = s.modal.proxy_token_id;
  o.secret_part = s.modal.proxy_token_secret;
  o.allow_private = s.modal.allow_private;
  return o;
}

net::daytona_options daytona_options_from(const settings& s) {
  net::daytona_options o;
  o.api_key = s.daytona.api_key;
  o.api_url = s.daytona.api_url;
  o.target = s.daytona.target;
  o.snapshot = s.daytona.snapshot;
  o.organization = s.daytona.organization;
  o.allow_private = s.daytona.allow_private;
  return o;
}

net::aio_options aio_options_from(const settings& s) {
  net::aio_options o;
  o.host = s.aio.host;
  o.port = static_cast<std::uint16_t>(s.aio.port);
  o.tls = s.aio.tls;
  o.api_key = s.aio.api_key;
  o.allow_private = s.aio.allow_private;
  return o;
}

net::webhook_options webhook_options_from(const settings& s) {
  net::webhook_options o;
  o.url = s.credentials.webhook_url;
  o.key = s.credentials.webhook_key;
  o.allow_private = s.credentials.allow_private;
  return o;
}

namespace {

using client_ptr = std::shared_ptr<net::http_client>;
using provider_or_error = result<std::shared_ptr<sandbox_provider>>;

/// The members that every group of a provider has in common.
template <class Group>
provider_limits limits_of(const settings& s, const Group& group,
                          std::uint32_t sandboxes) {
  using std::chrono::ceil;
  using std::chrono::seconds;
  provider_limits limits;
  limits.max_running = sandboxes;
  limits.lifetime = ceil<seconds>(group.timeout);
  limits.reconcile_every = ceil<seconds>(s.dispatch.reconcile_interval);
  return limits;
}

/// Of a service that creates sandboxes, at a rate and some of them ahead.
template <class Group>
provider_limits creating(const settings& s, const Group& group) {
  auto limits = limits_of(s, group, group.max_sandboxes);
  limits.prewarmed = group.prewarmed_sandboxes;
  limits.create_spacing = std::chrono::milliseconds{
    group.create_rate == 0 ? 0 : 1'000 / group.create_rate};
  return limits;
}

/// An image is built while its sandbox is created: minutes, not seconds.
provider_limits building(const settings& s, provider_limits limits) {
  limits.create_timeout
    = std::chrono::ceil<std::chrono::seconds>(s.dispatch.prepare_timeout);
  return limits;
}

constexpr provider_descriptor e2b{
  .kind = backend_kind::e2b,
  .way_in = "set e2b.api-key (E2B_API_KEY)",
  .is_configured = [](const settings& s) { return !s.e2b.api_key.empty(); },
  .address =
    [](const settings& s) {
      return s.e2b.api_url.empty() ? "https://api." + s.e2b.domain
                                   : s.e2b.api_url;
    },
  .limits = [](const settings& s) { return creating(s, s.e2b); },
  .make = [](const settings& s, client_ptr client) -> provider_or_error {
    return net::make_e2b(std::move(client), e2b_options_from(s));
  }};

/// A deployed runner of ours goes before the API.
constexpr provider_descriptor modal{
  .kind = backend_kind::modal,
  .way_in = "set modal.token-id and modal.token-secret (MODAL_TOKEN_ID, "
            "MODAL_TOKEN_SECRET), or modal.endpoint-url",
  .is_configured =
    [](const settings& s) {
      return !s.modal.token_id.empty() || !s.modal.endpoint_url.empty();
    },
  .address =
    [](const settings& s) {
      return s.modal.endpoint_url.empty() ? s.modal.server_url
                                          : s.modal.endpoint_url;
    },
  .limits = [](const settings& s) { return building(s, creating(s, s.modal)); },
  .make = [](const settings& s, client_ptr client) -> provider_or_error {
    if (!s.modal.endpoint_url.empty())
      return net::make_modal_endpoint(std::move(client),
                                      modal_endpoint_options_from(s));
    return net::make_modal(std::move(client), modal_options_from(s));
  }};

constexpr provider_descriptor daytona{
  .kind = backend_kind::daytona,
  .way_in = "set daytona.api-key (DAYTONA_API_KEY)",
  .is_configured = [](const settings& s) { return !s.daytona.api_key.empty(); },
  .address = [](const settings& s) { return s.daytona.api_url; },
  .limits
  = [](const settings& s) { return building(s, creating(s, s.daytona)); },
  .make = [](const settings& s, client_ptr client) -> provider_or_error {
    return net::make_daytona(std::move(client), daytona_options_from(s));
  }};

/// One container that is there already: none is created.
constexpr provider_descriptor aio{
  .kind = backend_kind::aio,
  .way_in = "set aio.host (SANDBOX_HOST)",
  .is_configured = [](const settings& s) { return !s.aio.host.empty(); },
  .address =
    [](const settings& s) {
      return s.aio.host.empty() ? std::string{}
                                : s.aio.host + ":" + std::to_string(s.aio.port);
    },
  .limits =
    [](const settings& s) {
      auto limits = limits_of(s, s.aio, s.aio.max_running);
      limits.create_spacing = std::chrono::milliseconds{0};
      return limits;
    },
  .make = [](const settings& s, client_ptr client) -> provider_or_error {
    return net::make_aio(std::move(client), aio_options_from(s));
  }};

constexpr std::array all{e2b, modal, daytona, aio};

} // namespace

std::span<const provider_descriptor> known_providers() {
  return all;
}

result<std::shared_ptr<sandbox_provider>>
provider_account::make(client_ptr client) const {
  auto made = provider->make(*as, std::move(client));
  if (made)
    (*made)->set_account(name);
  return made;
}

std::vector<provider_account> provider_accounts(const settings& s) {
  std::vector<provider_account> found;
  for (const auto& each : all)
    found.push_back({&each, each.kind, &s});
  for (const auto& [name, as] : s.accounts)
    for (const auto& each : all)
      if (each.kind == name.kind())
        found.push_back({&each, name, as.get()});
  return found;
}

result<provider_account> find_account(const settings& s,
                                      std::string_view name) {
  std::string known;
  for (const auto& each : provider_accounts(s)) {
    if (each.name.text() == name)
      return each;
    known += (known.empty() ? "" : ", ") + std::string{each.name.text()};
  }
  return bad_field(
    "", "'" + std::string{name.substr(0, 64)} + "' is not a provider",
    "one of " + known);
}

} // namespace troupe
