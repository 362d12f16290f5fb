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

struct group_bounds {
  std::uint32_t sandboxes;
  std::uint32_t per_second; // 0: nothing is created
  settings::ms lifetime;
  std::uint32_t ready_ahead = 0;
};

group_bounds group_of(const settings& s, backend_kind kind) {
  switch (kind) {
  case backend_kind::e2b:
    return {s.e2b.max_sandboxes, s.e2b.create_rate, s.e2b.timeout,
            s.e2b.prewarmed_sandboxes};
  case backend_kind::modal:
    return {s.modal.max_sandboxes, s.modal.create_rate, s.modal.timeout,
            s.modal.prewarmed_sandboxes};
  case backend_kind::daytona:
    return {s.daytona.max_sandboxes, s.daytona.create_rate, s.daytona.timeout,
            s.daytona.prewarmed_sandboxes};
  case backend_kind::aio:
    return {s.aio.max_running, 0, s.aio.timeout};
  case backend_kind::local:
  case backend_kind::peer:
    break;
  }
  return {0, 0, settings::ms{0}};
}

} // namespace

net::remote_options bounds_from(const settings& s, backend_kind kind) {
  using std::chrono::ceil;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  auto group = group_of(s, kind);
  net::remote_options o;
  o.max_running = group.sandboxes;
  o.ready_ahead = group.ready_ahead;
  o.create_spacing
    = milliseconds{group.per_second == 0 ? 0 : 1'000 / group.per_second};
  o.lifetime = ceil<seconds>(group.lifetime);
  o.reconcile_every = ceil<seconds>(s.dispatch.reconcile_interval);
  // An image is built while its sandbox is created: minutes, not seconds.
  if (kind == backend_kind::modal || kind == backend_kind::daytona)
    o.create_timeout = ceil<seconds>(s.dispatch.prepare_timeout);
  return o;
}

std::string_view way_in(backend_kind kind) {
  switch (kind) {
  case backend_kind::e2b:
    return "set e2b.api-key (E2B_API_KEY)";
  case backend_kind::modal:
    return "set modal.token-id and modal.token-secret (MODAL_TOKEN_ID, "
           "MODAL_TOKEN_SECRET), or modal.endpoint-url";
  case backend_kind::daytona:
    return "set daytona.api-key (DAYTONA_API_KEY)";
  case backend_kind::aio:
    return "set aio.host (SANDBOX_HOST)";
  case backend_kind::local:
  case backend_kind::peer:
    break;
  }
  return "";
}

bool is_configured(const settings& s, backend_kind kind) {
  switch (kind) {
  case backend_kind::e2b:
    return !s.e2b.api_key.empty();
  case backend_kind::modal:
    return !s.modal.token_id.empty() || !s.modal.endpoint_url.empty();
  case backend_kind::daytona:
    return !s.daytona.api_key.empty();
  case backend_kind::aio:
    return !s.aio.host.empty();
  case backend_kind::local:
  case backend_kind::peer:
    break;
  }
  return false;
}

result<std::shared_ptr<net::provider>>
make_provider(const settings& s, backend_kind kind,
              std::shared_ptr<net::http_client> client) {
  switch (kind) {
  case backend_kind::e2b:
    return net::make_e2b(std::move(client), e2b_options_from(s));
  case backend_kind::modal:
    if (!s.modal.endpoint_url.empty())
      return net::make_modal_endpoint(std::move(client),
                                      modal_endpoint_options_from(s));
    return net::make_modal(std::move(client), modal_options_from(s));
  case backend_kind::daytona:
    return net::make_daytona(std::move(client), daytona_options_from(s));
  case backend_kind::aio:
    return net::make_aio(std::move(client), aio_options_from(s));
  case backend_kind::local:
  case backend_kind::peer:
    break;
  }
  return error{ec::invalid_request,
               std::string{to_string(kind)} + " is not a remote provider",
               {},
               {}};
}

} // namespace troupe
