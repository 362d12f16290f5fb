#include "net/providers/modal/client.hpp"

#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

#include <algorithm>

namespace troupe::net {

namespace asio = boost::asio;
using namespace modal;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::string_view service = "/modal.client.ModalClient/";
constexpr int max_tries = 4;
constexpr auto max_delay = 1'000ms;
constexpr auto first_join_pause = 10ms; // an image is looked at again
constexpr int max_join_breaks = 10;     // in a row
enum image_result : int { image_built = 1, image_failed = 2 };
constexpr std::size_t max_log_bytes = 4'096; // of a build, shown when it fails
constexpr auto token_life_unknown = 20min;
// Image ids remembered: a name costs some hundred bytes.
constexpr std::size_t max_images = 1'000;

bool retryable_code(grpc_code code) {
  return code == grpc_code::unavailable || code == grpc_code::internal
    || code == grpc_code::deadline_exceeded || code == grpc_code::unknown
    || code == grpc_code::cancelled;
}

error refused(std::string_view method, const grpc_status& status) {
  auto e = status.as_error("Modal failed to " + std::string{method});
  if (e.code == ec::denied)
    e.text += "; check modal.token-id and modal.token-secret "
              "(MODAL_TOKEN_ID, MODAL_TOKEN_SECRET)";
  return e;
}

std::string seconds_text(steady::duration d) {
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  auto rest = std::to_string(ms % 1000);
  return std::to_string(ms / 1000) + "." + std::string(3 - rest.size(), '0')
    + rest;
}

std::string name_of(const std::vector<image_layer>& layers) {
  std::string name;
  for (const auto& l : layers)
    for (const auto& command : l.commands)
      name += command + "\n";
  return name;
}

/// Which package it was stands in the log only.
std::string last_lines(std::string_view log) {
  if (log.empty())
    return {};
  if (log.size() > max_log_bytes) {
    log.remove_prefix(log.size() - max_log_bytes);
    log.remove_prefix(std::min(log.find('\n'), log.size() - 1) + 1);
  }
  return ". The build's last lines:\n" + json::repair_utf8(log);
}

/// Only a command of its own that failed is the run's fault: a builder that
/// was evicted or gave up is not, and another backend may do better.
error not_built(const image_state& state) {
  auto why = state.reason.empty() ? "" : ": " + state.reason;
  if (state.status == image_failed)
    return fail(ec::invalid_request,
                "Modal could not build the image; change a version or drop "
                "a requirement"
                  + why + last_lines(state.log));
  return fail(ec::unavailable,
              "Modal failed to build the image (status "
                + std::to_string(state.status) + ")" + why);
}

error no_time_left() {
  return fail(ec::timeout, "no time left to ask Modal");
}

} // namespace

modal_client::modal_client(asio::any_io_executor executor,
                           std::shared_ptr<grpc_channel> channel,
                           modal_options options, std::string host)
    : executor_{std::move(executor)}, channel_{std::move(channel)},
      options_{std::move(options)}, host_{std::move(host)} {}

header_list modal_client::metadata(bool with_token) const {
  header_list out{
    {"x-modal-client-type", options_.client_type},
    {"x-modal-client-version", options_.client_version},
    {"x-modal-libmodal-version", options_.libmodal_version},
    {"x-modal-token-id", options_.token_id.reveal()},
    {"x-modal-token-secret", options_.token_secret.reveal()},
    {"x-modal-host", host_},
  };
  if (with_token)
    out.emplace_back("x-modal-auth-token", token_);
  return out;
}

asio::awaitable<modal_client::answer>
modal_client::try_call(std::string method, std::string message,
                       call_scope scope, bool with_token) {
  auto key = make_uuid();
  auto began = steady::now();
  auto delay = options_.first_delay;
  auto tries = 0;
  auto throttled = 0;
  for (;;) {
    std::string bytes;
    grpc_call c;
    c.path = std::string{service} + method;
    c.metadata = metadata(with_token);
    c.metadata.emplace_back("x-idempotency-key", key);
    c.metadata.emplace_back("x-retry-attempt", std::to_string(tries));
    c.metadata.emplace_back("x-throttle-retry-attempt",
                            std::to_string(throttled));
    auto since = seconds_text(steady::now() - began);
    if (tries > 0)
      c.metadata.emplace_back("x-retry-delay", since);
    if (throttled > 0)
      c.metadata.emplace_back("x-throttle-retry-delay", since);
    c.message = message;
    c.deadline = scope.deadline;
    c.abort = scope.cancel;
    c.traceparent = scope.traceparent;
    c.on_message = [&bytes](std::string_view m) {
      bytes = m;
      return true;
    };
    auto reply = co_await channel_->call(std::move(c));
    if (reply.status.ok())
      co_return answer{std::move(bytes), true};
    answer bad{refused(method, reply.status),
               reply.may_have_acted && !is_refusal(reply.status.code),
               reply.status.code};
    if (reply.status.retry_after) {
      // Directed by the server: not counted against our own tries.
      auto wait = std::max(100ms,
                           std::chrono::milliseconds{static_cast<std::int64_t>(
                             *reply.status.retry_after * 1000)});
      if (steady::now() + wait - began > options_.max_throttle_wait
          || !co_await pause(executor_, wait, scope.deadline, scope.cancel))
        co_return bad;
      ++throttled;
      continue;
    }
    if (!retryable_code(reply.status.code) || ++tries >= max_tries)
      co_return bad;
    if (!co_await pause(executor_, delay, scope.deadline, scope.cancel))
      co_return bad;
    channel_->count_retry();
    delay = std::min<std::chrono::milliseconds>(delay * 2, max_delay);
  }
}

asio::awaitable<result<void>> modal_client::refresh_token(call_scope scope) {
  if (steady::now() < token_fresh_until_)
    co_return result<void>{};
  if (!co_await asking_for_token_.take(scope))
    co_return no_time_left();
  result<void> got;
  if (steady::now() >= token_fresh_until_) // nobody did meanwhile
    got = co_await ask_for_token(scope);
  asking_for_token_.leave();
  co_return got;
}

/// Once more than half of its life is over it is replaced; one that cannot be
/// replaced serves to its end, unless that is what the answer was about.
asio::awaitable<result<void>> modal_client::ask_for_token(call_scope scope) {
  auto soon = scope;
  soon.deadline = std::min(scope.deadline, steady::now() + 5s);
  auto got = co_await try_call("AuthTokenGet", "", soon, false);
  auto token = got.bytes ? text_field(*got.bytes, 1)
                         : result<std::string>{got.bytes.error()};
  if (!token) {
    auto refused = got.code == grpc_code::unauthenticated
      || got.code == grpc_code::permission_denied;
    if (refused || token_.empty() || steady::now() >= token_ends_)
      co_return token.error();
    token_fresh_until_ = std::min(token_ends_, steady::now() + 10s);
    co_return result<void>{};
  }
  token_ = std::move(*token);
  auto life = std::chrono::seconds{token_life_unknown};
  if (auto ends = jwt_expiry(token_)) {
    auto now
      = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    life
      = std::chrono::seconds{std::clamp<std::int64_t>(*ends - now, 0, 86'400)};
  }
  token_fresh_until_ = steady::now() + life * 55 / 100;
  token_ends_ = steady::now() + life;
  co_return result<void>{};
}

asio::awaitable<modal_client::answer>
modal_client::call(std::string method, std::string message, call_scope scope) {
  auto keep = shared_from_this();
  auto fresh = co_await refresh_token(scope);
  if (!fresh)
    co_return answer{fresh.error(), false};
  auto done
    = co_await try_call(std::move(method), std::move(message), scope, true);
  co_return done;
}

// -- lookups -----------------------------------------------------------------

asio::awaitable<result<std::string>> modal_client::app(call_scope scope) {
  auto keep = shared_from_this();
  if (!app_.empty())
    co_return app_;
  if (!co_await looking_up_app_.take(scope))
    co_return no_time_left();
  result<std::string> found = app_;
  if (app_.empty())
    found = co_await look_up_app(scope);
  looking_up_app_.leave();
  co_return found;
}

asio::awaitable<result<std::string>>
modal_client::look_up_app(call_scope scope) {
  auto message = app_request(options_.app, options_.environment);
  auto done = co_await call("AppGetOrCreate", std::move(message), scope);
  if (!done.bytes)
    co_return done.bytes.error();
  auto id = text_field(*done.bytes, 1);
  if (id)
    app_ = *id;
  co_return id;
}

asio::awaitable<result<std::string>> modal_client::builder(call_scope scope) {
  if (builder_.empty() && !options_.builder_version.empty())
    builder_ = options_.builder_version;
  if (builder_.empty()) {
    auto message = environment_request(options_.environment);
    auto done
      = co_await call("EnvironmentGetOrCreate", std::move(message), scope);
    if (!done.bytes)
      co_return done.bytes.error();
    auto version = builder_version_of(*done.bytes);
    if (!version)
      co_return version.error();
    builder_ = std::move(*version);
  }
  co_return builder_;
}

asio::awaitable<grpc_reply> modal_client::join_image(image_state& state,
                                                     call_scope scope) {
  grpc_call c;
  c.path = std::string{service} + "ImageJoinStreaming";
  c.metadata = metadata(true); // a stream is not repeated under one key
  c.message = image_join_request(state.id, state.entry);
  c.deadline = scope.deadline;
  c.abort = scope.cancel;
  c.traceparent = scope.traceparent;
  c.on_message = [&state](std::string_view bytes) {
    if (auto next = read_image_join(bytes)) {
      if (next->status != 0) { // later ones may bring lines of the log only
        state.status = next->status;
        state.reason = next->reason;
      }
      if (!next->entry.empty())
        state.entry = next->entry;
      state.log += next->log;
      if (state.log.size() > 2 * max_log_bytes)
        state.log.erase(0, state.log.size() - max_log_bytes);
    }
    return true;
  };
  auto reply = co_await channel_->call(std::move(c));
  co_return reply;
}

asio::awaitable<result<std::string>> modal_client::layer(image_layer what,
                                                         std::string app,
                                                         std::string builder,
                                                         call_scope scope) {
  auto message = image_request(what, app, builder);
  auto done = co_await call("ImageGetOrCreate", std::move(message), scope);
  if (!done.bytes)
    co_return done.bytes.error();
  auto state = read_image(*done.bytes);
  if (!state)
    co_return state.error();
  auto breaks = 0;
  while (state->status == 0) {
    auto wait = std::min<std::chrono::milliseconds>(
      first_join_pause * (1 << breaks), max_delay);
    if (!co_await pause(executor_, wait, scope.deadline, scope.cancel))
      co_return fail(ec::timeout, "Modal was still building the image");
    auto reply = co_await join_image(*state, scope);
    if (reply.status.ok())
      breaks = 0;
    else if (!retryable_code(reply.status.code) || ++breaks >= max_join_breaks)
      co_return refused("ImageJoinStreaming", reply.status);
  }
  if (state->status != image_built)
    co_return not_built(*state);
  co_return std::move(state->id);
}

asio::awaitable<result<std::string>>
modal_client::image(std::vector<image_layer> layers, call_scope scope) {
  auto keep = shared_from_this();
  auto name = name_of(layers);
  if (auto known = images_.find(name); known != images_.end())
    co_return known->second;
  auto& door = building_[name];
  if (!door)
    door = std::make_shared<async_semaphore>(executor_, 1);
  auto mine = door;
  if (!co_await mine->take(scope))
    co_return no_time_left();
  result<std::string> built = fail(ec::internal, "not built");
  if (auto known = images_.find(name); known != images_.end())
    built = known->second;
  else
    built = co_await build(std::move(layers), scope);
  if (built) {
    if (images_.size() >= max_images)
      images_.clear();
    images_[name] = *built;
  }
  mine->leave();
  if (mine->taken() == 0)
    building_.erase(name);
  co_return built;
}

bool modal_client::remembers(const std::vector<image_layer>& layers) const {
  return !app_.empty() || images_.contains(name_of(layers));
}

void modal_client::forget(const std::string& app, const std::string& image) {
  if (app_ == app)
    app_.clear();
  std::erase_if(images_, [&](const auto& one) { return one.second == image; });
}

asio::awaitable<result<std::string>>
modal_client::build(std::vector<image_layer> layers, call_scope scope) {
  auto in = co_await app(scope);
  if (!in)
    co_return in.error();
  auto with = co_await builder(scope);
  if (!with)
    co_return with.error();
  std::string base;
  for (auto& l : layers) {
    l.base = base;
    auto built = co_await layer(std::move(l), *in, *with, scope);
    if (!built)
      co_return built.error();
    base = std::move(*built);
  }
  co_return base;
}

} // namespace troupe::net
