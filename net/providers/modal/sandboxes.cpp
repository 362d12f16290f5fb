#include "net/providers/modal/sandboxes.hpp"

#include "runtime/base/error.hpp"

#include <algorithm>
#include <cctype>

namespace troupe::net {

namespace asio = boost::asio;
using namespace modal;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view owner_tag = "troupe";
constexpr std::string_view lease_tag = "troupe_lease";
constexpr std::string_view key_tag = "troupe_key";
constexpr int max_list_pages = 100;

/// Such calls are not served, or not to us.
bool is_not_served(grpc_code code) {
  return code == grpc_code::unimplemented
    || code == grpc_code::failed_precondition;
}

sandbox_create_request request_for(const sandbox_request& wanted,
                                   std::string app, std::string image) {
  sandbox_create_request r;
  r.app = std::move(app);
  r.image = std::move(image);
  // Without an entrypoint that lasts, the sandbox would end at once.
  r.entrypoint = {"sleep", std::to_string(wanted.lifetime.count())};
  r.timeout_seconds = static_cast<std::uint32_t>(wanted.lifetime.count());
  r.memory_mb = static_cast<std::uint32_t>(wanted.limits.memory_bytes >> 20);
  r.network = wanted.network;
  r.env = wanted.env;
  r.env.try_emplace("NODE_PATH", "/opt/troupe/node_modules");
  r.tags.emplace(owner_tag, "1");
  r.tags.emplace(lease_tag, wanted.tag);
  if (wanted.shared())
    r.tags.emplace(key_tag, wanted.key);
  if (!config_of(wanted).id.empty())
    r.tags["config_state"] = fingerprint(config_of(wanted));
  return r;
}

sandbox_handle as_sandbox(sandbox_answer made) {
  sandbox_handle box;
  box.id = std::move(made.id);
  box.keys.emplace(modal_sandboxes::task_key, std::move(made.task));
  box.keys.emplace(modal_sandboxes::jwt_key, std::move(made.jwt));
  box.keys.emplace(modal_sandboxes::url_key, std::move(made.router_url));
  return box;
}

} // namespace

bool is_older_modal_id(std::string_view id) {
  constexpr std::string_view prefix = "sb-";
  return id.starts_with(prefix) && id.size() == prefix.size() + 22
    && std::all_of(id.begin() + prefix.size(), id.end(),
                   [](unsigned char c) { return std::isalnum(c); });
}

modal_sandboxes::modal_sandboxes(asio::any_io_executor executor,
                                 std::shared_ptr<modal_client> client,
                                 modal_options options)
    : executor_{std::move(executor)}, client_{std::move(client)},
      options_{std::move(options)}, newer_refused_{!options_.newer_sandboxes} {}

/// Ids that are remembered may have lost their meaning: then once more, with
/// new ones. What was asked for just now and is not known has another reason.
asio::awaitable<sandbox_creation>
modal_sandboxes::create(sandbox_request wanted, call_scope scope) {
  auto layers = image_layers(wanted, options_);
  auto remembered = client_->remembers(layers);
  auto tried = co_await try_to_create(wanted, layers, scope);
  if (remembered && tried.unknown_id) {
    client_->forget(tried.app, tried.image);
    tried = co_await try_to_create(std::move(wanted), std::move(layers), scope);
  }
  co_return std::move(tried.made);
}

asio::awaitable<modal_sandboxes::attempt> modal_sandboxes::try_to_create(
  sandbox_request wanted, std::vector<image_layer> layers, call_scope scope) {
  auto app = co_await client_->app(scope);
  if (!app)
    co_return attempt{{app.error(), false}};
  auto image = co_await client_->image(std::move(layers), scope);
  if (!image)
    co_return attempt{
      {image.error(), false}, *app, {}, image.error().code == ec::not_found};
  auto what = request_for(wanted, *app, *image);
  auto body = sandbox_body(what);
  if (!body)
    co_return attempt{{body.error(), false}};
  if (!newer_refused_) {
    auto done
      = co_await client_->call("SandboxCreateV2", std::move(*body), scope);
    if (done.bytes) {
      auto made = read_sandbox(*done.bytes);
      if (!made)
        co_return attempt{{made.error(), true}};
      co_return attempt{{as_sandbox(std::move(*made)), false}};
    }
    if (!is_not_served(done.code))
      co_return attempt{{done.bytes.error(), done.may_have_acted},
                        std::move(*app),
                        std::move(*image),
                        done.code == grpc_code::not_found};
    // For good: a precondition may hold the next time.
    newer_refused_ = done.code == grpc_code::unimplemented;
  }
  auto made = co_await create_older(std::move(what), scope);
  made.app = std::move(*app);
  made.image = std::move(*image);
  co_return made;
}

// -- the older generation -----------------------------------------------------

asio::awaitable<result<std::string>>
modal_sandboxes::store_secret(environment env, call_scope scope) {
  auto message = secret_request(env, options_.environment);
  auto done
    = co_await client_->call("SecretGetOrCreate", std::move(message), scope);
  if (!done.bytes)
    co_return done.bytes.error();
  co_return text_field(*done.bytes, 1);
}

asio::awaitable<modal_sandboxes::attempt>
modal_sandboxes::create_older(sandbox_create_request what, call_scope scope) {
  auto secret = co_await store_secret(std::exchange(what.env, {}), scope);
  if (!secret)
    co_return attempt{{secret.error(), false}};
  what.secrets = {*secret};
  auto body = sandbox_body(what);
  if (!body)
    co_return attempt{{body.error(), false}};
  auto done = co_await client_->call("SandboxCreate", std::move(*body), scope);
  if (!done.bytes)
    co_return attempt{{done.bytes.error(), done.may_have_acted},
                      {},
                      {},
                      done.code == grpc_code::not_found};
  auto id = text_field(*done.bytes, 1);
  if (!id)
    co_return attempt{{id.error(), true}};
  auto box = co_await enter_older(*id, scope);
  if (box)
    co_return attempt{{std::move(box), false}};
  auto gone = co_await destroy(*id, scope);
  co_return attempt{{std::move(box), !gone}};
}

asio::awaitable<result<sandbox_handle>>
modal_sandboxes::enter_older(std::string id, call_scope scope) {
  auto task = co_await task_of(id, scope);
  if (!task)
    co_return task.error();
  auto message = router_access_request(*task);
  auto done = co_await client_->call("TaskGetCommandRouterAccess",
                                     std::move(message), scope);
  if (!done.bytes)
    co_return done.bytes.error();
  auto access = read_router_access(*done.bytes);
  if (!access)
    co_return access.error();
  access->id = std::move(id);
  access->task = std::move(*task);
  co_return as_sandbox(std::move(*access));
}

asio::awaitable<result<std::string>>
modal_sandboxes::task_of(std::string id, call_scope scope) {
  for (;;) {
    auto message = sandbox_id_request(id);
    auto done
      = co_await client_->call("SandboxGetTaskId", std::move(message), scope);
    if (!done.bytes)
      co_return done.bytes.error();
    auto state = read_task(*done.bytes);
    if (!state)
      co_return state.error();
    if (!state->task.empty())
      co_return std::move(state->task);
    if (state->ended)
      co_return fail(ec::unavailable, "Modal's sandbox ended at once");
    auto on = co_await pause(executor_, options_.task_pause, scope.deadline,
                             scope.cancel);
    if (!on)
      co_return fail(ec::timeout, "Modal's sandbox did not start in time");
  }
}

// -- of either ----------------------------------------------------------------

asio::awaitable<result<sandbox_handle>>
modal_sandboxes::reconnect(sandbox_handle sandbox, call_scope scope) {
  auto older = is_older_modal_id(sandbox.id);
  std::string method = older ? "SandboxWait" : "SandboxWaitV2";
  auto question = wait_request(sandbox.id);
  auto seen
    = co_await client_->call(std::move(method), std::move(question), scope);
  if (!seen.bytes)
    co_return seen.bytes.error();
  if (has_ended(*seen.bytes))
    co_return fail(ec::not_found, "Modal's sandbox has ended");
  auto entered = co_await enter(std::move(sandbox), scope);
  co_return entered;
}

asio::awaitable<result<sandbox_handle>>
modal_sandboxes::enter(sandbox_handle sandbox, call_scope scope) {
  auto older = is_older_modal_id(sandbox.id);
  auto message = router_access_request(
    older ? sandbox.keys[std::string{task_key}].reveal() : sandbox.id);
  std::string method
    = older ? "TaskGetCommandRouterAccess" : "SandboxGetCommandRouterAccess";
  auto done
    = co_await client_->call(std::move(method), std::move(message), scope);
  if (!done.bytes)
    co_return done.bytes.error();
  auto access = read_router_access(*done.bytes);
  if (!access)
    co_return access.error();
  sandbox.keys.insert_or_assign(std::string{jwt_key}, secret{access->jwt});
  sandbox.keys.insert_or_assign(std::string{url_key},
                                secret{access->router_url});
  co_return std::move(sandbox);
}

asio::awaitable<result<void>> modal_sandboxes::destroy(std::string id,
                                                       call_scope scope) {
  auto method
    = is_older_modal_id(id) ? "SandboxTerminate" : "SandboxTerminateV2";
  auto message = sandbox_id_request(id);
  auto done = co_await client_->call(method, std::move(message), scope);
  if (!done.bytes && done.bytes.error().code != ec::not_found)
    co_return done.bytes.error();
  co_return result<void>{};
}

asio::awaitable<result<void>>
modal_sandboxes::list_generation(std::string method, std::string app,
                                 std::vector<tagged_sandbox>& into,
                                 call_scope scope) {
  string_map ours{{std::string{owner_tag}, "1"}};
  double before = 0;
  for (int page = 0; page < max_list_pages; ++page) {
    auto message = list_request(app, ours, before);
    auto done = co_await client_->call(method, std::move(message), scope);
    if (!done.bytes && done.code == grpc_code::unimplemented)
      break; // so there are none
    if (!done.bytes)
      co_return done.bytes.error();
    auto items = read_list(*done.bytes);
    if (!items)
      co_return items.error();
    if (items->sandboxes.empty())
      break;
    for (auto& [id, tags] : items->sandboxes)
      if (auto tag = tags.find(std::string{lease_tag}); tag != tags.end())
        into.push_back({id, tag->second});
    before = items->oldest;
  }
  co_return result<void>{};
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
modal_sandboxes::list(call_scope scope) {
  auto remembered = client_->remembers({});
  auto app = co_await client_->app(scope);
  if (!app)
    co_return app.error();
  auto found = co_await list_of(*app, scope);
  if (found || !remembered || found.error().code != ec::not_found)
    co_return found;
  client_->forget(*app, {});
  app = co_await client_->app(scope);
  if (!app)
    co_return app.error();
  found = co_await list_of(*app, scope);
  co_return found;
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
modal_sandboxes::list_of(std::string app, call_scope scope) {
  std::vector<tagged_sandbox> all;
  for (auto method : {"SandboxListV2", "SandboxList"}) {
    auto seen = co_await list_generation(method, app, all, scope);
    if (!seen)
      co_return seen.error();
  }
  co_return all;
}

} // namespace troupe::net
