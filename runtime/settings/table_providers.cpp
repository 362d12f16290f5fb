// credentials, e2b, modal, daytona, aio
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view private_help
  = "Allow host names that resolve to private addresses; literal IP addresses "
    "are always allowed.";
constexpr std::string_view rate_help
  = "Maximum number of new sandboxes per second.";
constexpr std::string_view prewarmed_help
  = "Sandboxes created before a run needs one; they are billed while they "
    "wait.";

std::vector<setting_key> credentials() {
  return {
    row("credentials", "webhook-url", TROUPE_AT(credentials.webhook_url),
        "URL asked before each run for additional variables; empty: none.")
      .form(text_form::url)
      .also_with_suffix("STEP_ORCHESTRATOR_ENDPOINT",
                        "/webhook/sandbox-credentials")
      .also("SANDBOX_CREDENTIALS_WEBHOOK"),
    row("credentials", "webhook-key", TROUPE_AT(credentials.webhook_key),
        "Bearer token sent to the webhook.")
      .also("STEP_COMPLETE_KEY")
      .also("SANDBOX_CREDENTIALS_KEY"),
    row("credentials", "timeout", TROUPE_AT(credentials.timeout),
        "Time for an answer, including one retry.")
      .between(100ms, 1min),
    row("credentials", "on-error", TROUPE_AT(credentials.on_error),
        "If the webhook fails: ignore runs the tool without its variables, "
        "fail refuses the run.")
      .one_of("ignore|fail"),
    row("credentials", "cache-ttl", TROUPE_AT(credentials.cache_ttl),
        "Time that an answer is reused for the same question; 0s: never.")
      .between(0ms, 1h),
    row("credentials", "allow-private-addresses",
        TROUPE_AT(credentials.allow_private), private_help),
  };
}

std::vector<setting_key> e2b() {
  return {
    row("e2b", "api-key", TROUPE_AT(e2b.api_key), "API key of the team.")
      .also("E2B_API_KEY"),
    row("e2b", "template-id", TROUPE_AT(e2b.template_id),
        "Default template of sandboxes.")
      .also("E2B_SANDBOX_TEMPLATE_ID"),
    row("e2b", "domain", TROUPE_AT(e2b.domain), "Base domain of the service.")
      .form(text_form::host)
      .also("E2B_DOMAIN"),
    row("e2b", "api-url", TROUPE_AT(e2b.api_url),
        "URL of the control plane; empty: https://api.DOMAIN.")
      .form(text_form::url)
      .also("E2B_API_URL"),
    row("e2b", "sandbox-url", TROUPE_AT(e2b.sandbox_url),
        "URL used for all sandboxes; empty: derived from each sandbox's id.")
      .form(text_form::url)
      .also("E2B_SANDBOX_URL"),
    row("e2b", "timeout", TROUPE_AT(e2b.timeout),
        "Default lifetime of a sandbox.")
      .between(1s, 24h)
      .also_in_seconds("E2B_TIMEOUT"),
    row("e2b", "max-sandboxes", TROUPE_AT(e2b.max_sandboxes),
        "Maximum number of sandboxes at a time.")
      .between(1, 100'000),
    row("e2b", "create-rate", TROUPE_AT(e2b.create_rate), rate_help)
      .between(1, 1'000),
    row("e2b", "prewarmed-sandboxes", TROUPE_AT(e2b.prewarmed_sandboxes),
        prewarmed_help)
      .between(0, 1'000),
    row("e2b", "allow-private-addresses", TROUPE_AT(e2b.allow_private),
        private_help),
    row("e2b", "legacy-create", TROUPE_AT(e2b.legacy_create),
        "Create sandboxes with /sandboxes, for control planes without /v2."),
  };
}

std::vector<setting_key> modal() {
  return {
    row("modal", "token-id", TROUPE_AT(modal.token_id), "API token id, ak-...")
      .also("MODAL_TOKEN_ID"),
    row("modal", "token-secret", TROUPE_AT(modal.token_secret),
        "API token secret, as-...")
      .also("MODAL_TOKEN_SECRET"),
    row("modal", "server-url", TROUPE_AT(modal.server_url),
        "URL of the control plane.")
      .form(text_form::url)
      .also("MODAL_SERVER_URL"),
    row("modal", "environment", TROUPE_AT(modal.environment),
        "Modal environment; empty: the default of the workspace.")
      .also("MODAL_ENVIRONMENT"),
    row("modal", "endpoint-url", TROUPE_AT(modal.endpoint_url),
        "URL of a deployed runner (examples/modal) to use instead of the API.")
      .form(text_form::url)
      .also("MODAL_ENDPOINT_URL"),
    row("modal", "proxy-token-id", TROUPE_AT(modal.proxy_token_id),
        "Proxy auth token id of the deployed runner, wk-...")
      .also("MODAL_PROXY_TOKEN_ID"),
    row("modal", "proxy-token-secret", TROUPE_AT(modal.proxy_token_secret),
        "Proxy auth token secret of the deployed runner, ws-...")
      .also("MODAL_PROXY_TOKEN_SECRET"),
    row("modal", "timeout", TROUPE_AT(modal.timeout),
        "Default lifetime of a sandbox.")
      .between(1s, 24h),
    row("modal", "max-sandboxes", TROUPE_AT(modal.max_sandboxes),
        "Maximum number of sandboxes at a time.")
      .between(1, 100'000),
    row("modal", "create-rate", TROUPE_AT(modal.create_rate), rate_help)
      .between(1, 1'000),
    row("modal", "prewarmed-sandboxes", TROUPE_AT(modal.prewarmed_sandboxes),
        prewarmed_help)
      .between(0, 1'000),
    row(
      "modal", "sandbox-v2", TROUPE_AT(modal.sandbox_v2),
      "Try Modal's newer kind of sandbox first and fall back to the older one.")
      .also("MODAL_SANDBOX_V2"),
    row("modal", "image-builder-version",
        TROUPE_AT(modal.image_builder_version),
        "Version of Modal's image builder; empty: the default of the Modal "
        "environment.")
      .also("MODAL_IMAGE_BUILDER_VERSION"),
    row("modal", "max-throttle-wait", TROUPE_AT(modal.max_throttle_wait),
        "Longest delay that Modal may impose on a call when it throttles; 0s: "
        "none.")
      .between(0s, 1h)
      .also_in_seconds("MODAL_MAX_THROTTLE_WAIT"),
    row("modal", "client-type", TROUPE_AT(modal.client_type),
        "Number of the Modal client that the engine identifies as."),
    row("modal", "client-version", TROUPE_AT(modal.client_version),
        "Protocol version of that client."),
    row("modal", "libmodal-version", TROUPE_AT(modal.libmodal_version),
        "Release of that client."),
    row("modal", "allow-private-addresses", TROUPE_AT(modal.allow_private),
        private_help),
  };
}

std::vector<setting_key> daytona() {
  return {
    row("daytona", "api-key", TROUPE_AT(daytona.api_key),
        "API key, or a JWT together with organization.")
      .also("DAYTONA_API_KEY")
      .also("DAYTONA_JWT_TOKEN"),
    row("daytona", "api-url", TROUPE_AT(daytona.api_url),
        "URL of the API, including /api.")
      .form(text_form::url)
      .also("DAYTONA_API_URL")
      .also("DAYTONA_SERVER_URL"),
    row("daytona", "target", TROUPE_AT(daytona.target),
        "Region of new sandboxes, such as us or eu.")
      .also("DAYTONA_TARGET"),
    row("daytona", "snapshot", TROUPE_AT(daytona.snapshot),
        "Default snapshot of sandboxes.")
      .also("DAYTONA_SNAPSHOT"),
    row("daytona", "organization", TROUPE_AT(daytona.organization),
        "Daytona organization; required if api-key is a JWT.")
      .also("DAYTONA_ORGANIZATION_ID"),
    row("daytona", "timeout", TROUPE_AT(daytona.timeout),
        "Default lifetime of a sandbox.")
      .between(1s, 24h),
    row("daytona", "max-sandboxes", TROUPE_AT(daytona.max_sandboxes),
        "Maximum number of sandboxes at a time.")
      .between(1, 100'000),
    row("daytona", "create-rate", TROUPE_AT(daytona.create_rate), rate_help)
      .between(1, 1'000),
    row("daytona", "prewarmed-sandboxes",
        TROUPE_AT(daytona.prewarmed_sandboxes), prewarmed_help)
      .between(0, 1'000),
    row("daytona", "allow-private-addresses", TROUPE_AT(daytona.allow_private),
        private_help),
  };
}

std::vector<setting_key> aio() {
  return {
    row("aio", "host", TROUPE_AT(aio.host), "Host of the container.")
      .form(text_form::host)
      .also("SANDBOX_HOST"),
    row("aio", "port", TROUPE_AT(aio.port), "Port of the container.")
      .between(1, 65'535)
      .also("SANDBOX_PORT"),
    row("aio", "api-key", TROUPE_AT(aio.api_key),
        "API key of the container, if it requires one.")
      .also("SANDBOX_API_KEY"),
    row("aio", "timeout", TROUPE_AT(aio.timeout),
        "Default wall-clock limit of a run.")
      .between(1s, 24h),
    row("aio", "max-running", TROUPE_AT(aio.max_running),
        "Maximum number of runs at a time.")
      .between(1, 10'000),
    row("aio", "tls", TROUPE_AT(aio.tls), "Connect with HTTPS."),
    row("aio", "allow-private-addresses", TROUPE_AT(aio.allow_private),
        private_help),
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
