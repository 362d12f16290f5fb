// credentials, e2b, modal, daytona, aio
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view private_help
  = "Let a host name lead to a private address; a written one may.";
constexpr std::string_view rate_help = "New sandboxes per second.";
constexpr std::string_view ahead_help = "Sandboxes made before a run asks for "
                                        "one; they are billed while they wait.";

std::vector<setting_key> credentials() {
  return {
    row("credentials", "webhook-url", TROUPE_AT(credentials.webhook_url),
        "Asked before each run for variables to add; empty: nobody is asked.")
      .form(text_form::url)
      .also_with_suffix("STEP_ORCHESTRATOR_ENDPOINT",
                        "/webhook/sandbox-credentials")
      .also("SANDBOX_CREDENTIALS_WEBHOOK"),
    row("credentials", "webhook-key", TROUPE_AT(credentials.webhook_key),
        "Bearer token for the webhook.")
      .also("STEP_COMPLETE_KEY")
      .also("SANDBOX_CREDENTIALS_KEY"),
    row("credentials", "timeout", TROUPE_AT(credentials.timeout),
        "Time for its answer, one retry included.")
      .between(100ms, 1min),
    row("credentials", "on-error", TROUPE_AT(credentials.on_error),
        "empty runs without its variables, fail refuses the run.")
      .one_of("empty|fail"),
    row("credentials", "cache-ttl", TROUPE_AT(credentials.cache_ttl),
        "How long an answer serves the same question; 0s asks every time.")
      .between(0ms, 1h),
    row("credentials", "allow-private", TROUPE_AT(credentials.allow_private),
        private_help),
  };
}

std::vector<setting_key> e2b() {
  return {
    row("e2b", "api-key", TROUPE_AT(e2b.api_key), "Key of the team.")
      .also("E2B_API_KEY"),
    row("e2b", "template-id", TROUPE_AT(e2b.template_id),
        "Template of a sandbox whose config names none.")
      .also("E2B_SANDBOX_TEMPLATE_ID"),
    row("e2b", "domain", TROUPE_AT(e2b.domain), "Their base domain.")
      .form(text_form::host)
      .also("E2B_DOMAIN"),
    row("e2b", "api-url", TROUPE_AT(e2b.api_url),
        "Control plane; empty: https://api.DOMAIN.")
      .form(text_form::url)
      .also("E2B_API_URL"),
    row("e2b", "sandbox-url", TROUPE_AT(e2b.sandbox_url),
        "One address for all sandboxes; empty: by each sandbox's name.")
      .form(text_form::url)
      .also("E2B_SANDBOX_URL"),
    row("e2b", "timeout", TROUPE_AT(e2b.timeout),
        "Life of a sandbox whose config says nothing.")
      .between(1s, 24h)
      .also_in_seconds("E2B_TIMEOUT"),
    row("e2b", "max-sandboxes", TROUPE_AT(e2b.max_sandboxes),
        "Sandboxes at the same time.")
      .between(1, 100'000),
    row("e2b", "create-rate", TROUPE_AT(e2b.create_rate), rate_help)
      .between(1, 1'000),
    row("e2b", "ready-ahead", TROUPE_AT(e2b.ready_ahead), ahead_help)
      .between(0, 1'000),
    row("e2b", "allow-private", TROUPE_AT(e2b.allow_private), private_help),
    row("e2b", "legacy-create", TROUPE_AT(e2b.legacy_create),
        "Create by /sandboxes: for control planes without /v2."),
  };
}

std::vector<setting_key> modal() {
  return {
    row("modal", "token-id", TROUPE_AT(modal.token_id), "API token, ak-...")
      .also("MODAL_TOKEN_ID"),
    row("modal", "token-secret", TROUPE_AT(modal.token_secret),
        "Its secret, as-...")
      .also("MODAL_TOKEN_SECRET"),
    row("modal", "server-url", TROUPE_AT(modal.server_url), "Control plane.")
      .form(text_form::url)
      .also("MODAL_SERVER_URL"),
    row("modal", "environment", TROUPE_AT(modal.environment),
        "Environment; empty: the default of the workspace.")
      .also("MODAL_ENVIRONMENT"),
    row("modal", "endpoint-url", TROUPE_AT(modal.endpoint_url),
        "A deployed runner (examples/modal) to use instead of the API.")
      .form(text_form::url)
      .also("MODAL_ENDPOINT_URL"),
    row("modal", "proxy-token-id", TROUPE_AT(modal.proxy_token_id),
        "Its proxy auth token, wk-...")
      .also("MODAL_PROXY_TOKEN_ID"),
    row("modal", "proxy-token-secret", TROUPE_AT(modal.proxy_token_secret),
        "And the secret of that, ws-...")
      .also("MODAL_PROXY_TOKEN_SECRET"),
    row("modal", "timeout", TROUPE_AT(modal.timeout),
        "Life of a sandbox whose config says nothing.")
      .between(1s, 24h),
    row("modal", "max-sandboxes", TROUPE_AT(modal.max_sandboxes),
        "Sandboxes at the same time.")
      .between(1, 100'000),
    row("modal", "create-rate", TROUPE_AT(modal.create_rate), rate_help)
      .between(1, 1'000),
    row("modal", "ready-ahead", TROUPE_AT(modal.ready_ahead), ahead_help)
      .between(0, 1'000),
    row("modal", "sandbox-v2", TROUPE_AT(modal.sandbox_v2),
        "Ask for their newer kind of sandbox first; the older one is the "
        "fallback.")
      .also("MODAL_SANDBOX_V2"),
    row("modal", "image-builder-version",
        TROUPE_AT(modal.image_builder_version),
        "How images are built; empty: as the environment says.")
      .also("MODAL_IMAGE_BUILDER_VERSION"),
    row("modal", "max-throttle-wait", TROUPE_AT(modal.max_throttle_wait),
        "Longest wait that their servers may ask for; 0s obeys none.")
      .between(0s, 1h)
      .also_in_seconds("MODAL_MAX_THROTTLE_WAIT"),
    row("modal", "client-type", TROUPE_AT(modal.client_type),
        "Which of their clients we speak like, by its number."),
    row("modal", "client-version", TROUPE_AT(modal.client_version),
        "And in which version of their protocol."),
    row("modal", "libmodal-version", TROUPE_AT(modal.libmodal_version),
        "And in which release of that client."),
    row("modal", "allow-private", TROUPE_AT(modal.allow_private), private_help),
  };
}

std::vector<setting_key> daytona() {
  return {
    row("daytona", "api-key", TROUPE_AT(daytona.api_key),
        "API key, or a JWT with its organization.")
      .also("DAYTONA_API_KEY")
      .also("DAYTONA_JWT_TOKEN"),
    row("daytona", "api-url", TROUPE_AT(daytona.api_url),
        "Address of the API, with its /api.")
      .form(text_form::url)
      .also("DAYTONA_API_URL")
      .also("DAYTONA_SERVER_URL"),
    row("daytona", "target", TROUPE_AT(daytona.target),
        "Region of new sandboxes, such as us or eu.")
      .also("DAYTONA_TARGET"),
    row("daytona", "snapshot", TROUPE_AT(daytona.snapshot),
        "Snapshot of a sandbox whose config names none.")
      .also("DAYTONA_SNAPSHOT"),
    row("daytona", "organization", TROUPE_AT(daytona.organization),
        "Organization, when the key is a JWT.")
      .also("DAYTONA_ORGANIZATION_ID"),
    row("daytona", "timeout", TROUPE_AT(daytona.timeout),
        "Life of a sandbox whose config says nothing.")
      .between(1s, 24h),
    row("daytona", "max-sandboxes", TROUPE_AT(daytona.max_sandboxes),
        "Sandboxes at the same time.")
      .between(1, 100'000),
    row("daytona", "create-rate", TROUPE_AT(daytona.create_rate), rate_help)
      .between(1, 1'000),
    row("daytona", "ready-ahead", TROUPE_AT(daytona.ready_ahead), ahead_help)
      .between(0, 1'000),
    row("daytona", "allow-private", TROUPE_AT(daytona.allow_private),
        private_help),
  };
}

std::vector<setting_key> aio() {
  return {
    row("aio", "host", TROUPE_AT(aio.host), "Host of the container.")
      .form(text_form::host)
      .also("SANDBOX_HOST"),
    row("aio", "port", TROUPE_AT(aio.port), "Its port.")
      .between(1, 65'535)
      .also("SANDBOX_PORT"),
    row("aio", "api-key", TROUPE_AT(aio.api_key), "Its key, if it has one.")
      .also("SANDBOX_API_KEY"),
    row("aio", "timeout", TROUPE_AT(aio.timeout),
        "Longest run whose config says nothing.")
      .between(1s, 24h),
    row("aio", "max-runs", TROUPE_AT(aio.max_runs), "Runs at the same time.")
      .between(1, 10'000),
    row("aio", "tls", TROUPE_AT(aio.tls), "Speak HTTPS to it."),
    row("aio", "allow-private", TROUPE_AT(aio.allow_private), private_help),
  };
}

} // namespace

std::vector<setting_key> providers() {
  std::vector<setting_key> all;
  for (auto part : {credentials(), e2b(), modal(), daytona(), aio()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace troupe::settings_table
