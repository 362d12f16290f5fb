#include "net/providers/modal/endpoint.hpp"

#include "net/client/address_rules.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::string_view service_name = "Modal";
constexpr std::string_view key_setting
  = "modal.proxy-token-id and modal.proxy-token-secret "
    "(MODAL_PROXY_TOKEN_ID, MODAL_PROXY_TOKEN_SECRET)";
constexpr std::string_view shape_key = "shape";
constexpr std::size_t max_answer_bytes = 64u << 20;
// A web request lasts 150 s at Modal, then it answers where to wait on.
constexpr int max_waits = 600;

json::array texts(const auto& requirements) {
  json::array out;
  for (const auto& r : requirements)
    out.emplace_back(to_string(r));
  return out;
}

/// What the sandbox is to be like: its packages and its network.
std::string shape_of(const sandbox_request& wanted) {
  json::object shape;
  auto shell = wanted.kind == run_kind::command; // which may want both
  auto python = wanted.lang == language::python;
  shape["pip"]
    = shell || python ? texts(wanted.pip_requirements) : json::array{};
  shape["npm"]
    = shell || !python ? texts(wanted.npm_requirements) : json::array{};
  if (wanted.network.mode == network_mode::listed) {
    json::array hosts;
    for (const auto& pattern : wanted.network.allow)
      hosts.emplace_back(pattern);
    shape["network"] = std::move(hosts);
  } else {
    shape["network"]
      = wanted.network.mode == network_mode::off ? "off" : "open";
  }
  shape["memory_mb"]
    = static_cast<std::int64_t>(wanted.limits.memory_bytes >> 20);
  return json::to_text(shape);
}

class modal_endpoint final : public sandbox_provider {
public:
  modal_endpoint(std::shared_ptr<http_client> client,
                 modal_endpoint_options options, base_url service)
      : client_{std::move(client)}, options_{std::move(options)},
        service_{std::move(service)} {}

  backend_kind kind() const override { return backend_kind::modal; }
  std::string_view name() const override { return service_name; }
  std::vector<secret> secrets() const override {
    return {options_.key, options_.secret_part};
  }
  sandbox_capabilities capabilities() const override {
    return {.outlives_call = false, .installs_packages = true};
  }
  result<void> ready() const override {
    if (options_.key.empty() != options_.secret_part.empty())
      return fail(ec::unavailable,
                  "Modal has half of a proxy auth token: set "
                    + std::string{key_setting});
    return {};
  }

  asio::awaitable<sandbox_creation> create(sandbox_request wanted,
                                           call_scope) override {
    sandbox_creation made{sandbox_handle{}, false};
    made.sandbox->id = std::move(wanted.tag);
    made.sandbox->keys.emplace(shape_key, secret{shape_of(wanted)});
    made.sandbox->env = std::move(wanted.env);
    co_return made;
  }

  asio::awaitable<process_outcome> execute(const sandbox_handle& sandbox,
                                           process_request what,
                                           output_sink sink,
                                           call_scope scope) override {
    json::array argv;
    for (const auto& word : what.argv)
      argv.emplace_back(word);
    json::object body;
    body["language"] = "shell";
    body["argv"] = std::move(argv);
    body["stdin"] = frame::to_base64(what.input);
    auto end
      = co_await carry_out(sandbox, std::move(body), std::move(sink), scope);
    co_return end;
  }

  asio::awaitable<process_outcome> run_script(const sandbox_handle& sandbox,
                                              language lang,
                                              sandbox_script script,
                                              output_sink sink,
                                              call_scope scope) override {
    json::object body;
    body["language"] = lang == language::python ? "python" : "javascript";
    body["code"] = script.text();
    auto end
      = co_await carry_out(sandbox, std::move(body), std::move(sink), scope);
    co_return end;
  }

  asio::awaitable<result<void>> destroy(const sandbox_handle&,
                                        call_scope) override {
    co_return result<void>{};
  }
  asio::awaitable<result<std::vector<tagged_sandbox>>>
  list(call_scope) override {
    co_return std::vector<tagged_sandbox>{};
  }

private:
  client_request request(http::verb method, const call_scope& scope) const;
  asio::awaitable<process_outcome> carry_out(const sandbox_handle& sandbox,
                                             json::object body,
                                             output_sink sink,
                                             call_scope scope);

  std::shared_ptr<http_client> client_;
  modal_endpoint_options options_;
  base_url service_;
};

client_request modal_endpoint::request(http::verb method,
                                       const call_scope& scope) const {
  client_request r;
  r.service = service_;
  r.rule = operators_rule(service_, options_.allow_private);
  r.method = method;
  r.target = service_.prefix.empty() ? "/" : "";
  r.headers.set(http::field::accept, "application/json");
  if (!options_.key.empty()) {
    r.headers.set("Modal-Key", options_.key.reveal());
    r.headers.set("Modal-Secret", options_.secret_part.reveal());
  }
  r.max_body_bytes = max_answer_bytes;
  r.deadline = scope.deadline;
  r.abort = scope.cancel;
  r.traceparent = scope.traceparent;
  return r;
}

asio::awaitable<process_outcome>
modal_endpoint::carry_out(const sandbox_handle& sandbox, json::object body,
                          output_sink sink, call_scope scope) {
  json::object env;
  for (const auto& [name, value] : sandbox.env)
    env[name] = value.reveal();
  body["env_vars"] = std::move(env);
  auto shape
    = json::parse_object(sandbox.keys.at(std::string{shape_key}).reveal());
  for (auto& [name, value] : *shape)
    body[name] = value;
  auto left = std::chrono::ceil<std::chrono::seconds>(
    scope.deadline - std::chrono::steady_clock::now());
  body["timeout"] = std::max<std::int64_t>(1, left.count());
  auto next = request(http::verb::post, scope);
  next.headers.set(http::field::content_type, "application/json");
  next.body = json::to_text(body);
  for (int waits = 0; waits < max_waits; ++waits) {
    auto done = co_await client_->send(std::move(next));
    auto acted = waits > 0 || may_have_acted(done);
    if (!done.answer)
      co_return process_outcome{done.answer.error(), acted};
    if (done.answer->status != 303) {
      if (!done.answer->ok())
        co_return process_outcome{refused(service_name,
                                          "run it at its endpoint",
                                          *done.answer, key_setting),
                                  acted};
      auto answer = parse_endpoint_answer(done.answer->body);
      if (!answer)
        co_return process_outcome{answer.error(), true};
      sink(output_stream::out, answer->out);
      sink(output_stream::err, answer->err);
      co_return answer->end;
    }
    tell_begun(scope); // it lasts longer than a web request may
    auto target
      = waiting_target(service_, done.answer->headers[http::field::location]);
    if (!target)
      co_return process_outcome{target.error(), true};
    next = request(http::verb::get, scope);
    next.service.prefix.clear();
    next.target = std::move(*target);
    next.idempotent = true; // it only waits
  }
  co_return process_outcome{
    fail(ec::unavailable, "Modal's endpoint never answered"), true};
}

result<std::string> bytes_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  if (!v || !v->is_string())
    return fail(ec::unavailable,
                "Modal's endpoint answered without " + std::string{name});
  return frame::from_base64(v->as_string());
}

} // namespace

result<endpoint_answer> parse_endpoint_answer(std::string_view text) {
  auto body = json::parse_object(text, {.depth = 8, .bytes = max_answer_bytes});
  if (!body)
    return fail(ec::unavailable, "Modal's endpoint answered with no JSON");
  if (auto* why = body->if_contains("error"); why && why->is_string())
    return fail(ec::unavailable,
                "Modal's endpoint could not run it: " + reply_message(text));
  endpoint_answer out;
  auto* code = body->if_contains("exit_code");
  if (!code || !code->is_int64())
    return fail(ec::unavailable, "Modal's endpoint answered without exit_code");
  out.end.exit_code = static_cast<std::int32_t>(code->as_int64());
  out.end.signaled = out.end.exit_code < 0;
  out.end.signal = out.end.signaled ? -out.end.exit_code : 0;
  auto printed = bytes_of(*body, "stdout");
  if (!printed)
    return printed.error();
  out.out = std::move(*printed);
  auto complained = bytes_of(*body, "stderr");
  if (!complained)
    return complained.error();
  out.err = std::move(*complained);
  return out;
}

result<std::string> waiting_target(const base_url& service,
                                   std::string_view location) {
  auto origin
    = std::string{service.tls ? "https://" : "http://"} + service.authority();
  if (location.starts_with(origin))
    location.remove_prefix(origin.size());
  auto fine = location.starts_with('/') && !location.starts_with("//");
  for (unsigned char c : location)
    fine = fine && c > 0x20 && c < 0x7f;
  if (!fine)
    return fail(
      ec::unavailable,
      "Modal's endpoint redirects elsewhere; redirects are not followed");
  return std::string{location};
}

result<std::shared_ptr<sandbox_provider>>
make_modal_endpoint(std::shared_ptr<http_client> client,
                    modal_endpoint_options options) {
  auto service = parse_base_url(options.url);
  if (!service)
    return service.error().within("modal.endpoint-url");
  return std::static_pointer_cast<sandbox_provider>(
    std::make_shared<modal_endpoint>(std::move(client), std::move(options),
                                     std::move(*service)));
}

} // namespace troupe::net
