// credentials, e2b, modal, daytona, aio
#include "runtime/settings/table.hpp"

namespace troupe::settings_table {

using namespace std::chrono_literals;

namespace {

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
    row("modal", "timeout", TROUPE_AT(modal.timeout),
        "Life of a sandbox whose config says nothing.")
      .between(1s, 24h),
    row("modal", "max-sandboxes", TROUPE_AT(modal.max_sandboxes),
        "Sandboxes at the same time.")
      .between(1, 100'000),
  };
}

std::vector<setting_key> daytona() {
  return {
    row("daytona", "api-key", TROUPE_AT(daytona.api_key), "API key.")
      .also("DAYTONA_API_KEY"),
    row("daytona", "api-url", TROUPE_AT(daytona.api_url),
        "Address of the API, with its /api.")
      .form(text_form::url)
      .also("DAYTONA_API_URL")
      .also("DAYTONA_SERVER_URL"),
    row("daytona", "target", TROUPE_AT(daytona.target),
        "Region of new sandboxes, such as us or eu.")
      .also("DAYTONA_TARGET"),
    row("daytona", "timeout", TROUPE_AT(daytona.timeout),
        "Life of a sandbox whose config says nothing.")
      .between(1s, 24h),
    row("daytona", "max-sandboxes", TROUPE_AT(daytona.max_sandboxes),
        "Sandboxes at the same time.")
      .between(1, 100'000),
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
