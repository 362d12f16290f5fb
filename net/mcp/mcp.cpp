#include "net/mcp/mcp.hpp"

#include "net/mcp/change_stream.hpp"
#include "net/mcp/request_call.hpp"
#include "net/mcp/server_card.hpp"
#include "runtime/json/writer.hpp"

#include <utility>

namespace troupe::net::mcp {

namespace {

using service_ptr = std::shared_ptr<service>;

/// What HTTP refuses before a message was read, in the protocol's form.
response write_refusal(int status, std::string_view, const error& why,
                       std::string_view request_id, std::string_view) {
  rpc_error said{status, codes::invalid_request, why.text};
  if (status == 500) {
    said.code = codes::internal_error;
    said.message = "Internal error (request " + std::string{request_id} + ")";
  }
  response r;
  r.status = status;
  r.body = error_text({}, said);
  return r;
}

void refuse(exchange& ex, const rpc_error& why, std::string_view id = {}) {
  response r;
  r.status = why.status;
  r.body = error_text(id, why);
  if (why.status == 405)
    r.fields.emplace_back("allow", "POST, GET, DELETE");
  ex.answer(std::move(r));
}

void accept(exchange& ex, int status = 202) {
  response r;
  r.status = status;
  r.type = {};
  ex.answer(std::move(r));
}

/// "application/json" with any parameters.
bool is_json(const request& in) {
  const auto type = in.field("content-type");
  return in.count("content-type") == 1
    && equal_ignoring_case(trim(type.substr(0, type.find(';'))),
                           "application/json");
}

/// The legacy session of a request; null, and answered, when it has none.
protocol_session_ptr session_of(service& home, exchange& ex,
                                std::string_view id = {}) {
  const auto given = trim(ex.in().field("mcp-session-id"));
  if (given.empty()) {
    refuse(ex,
           {400, codes::invalid_request,
            "Mcp-Session-Id is missing: begin "
            "with initialize"},
           id);
    return nullptr;
  }
  auto found = home.sessions.find(given, ex.who());
  if (!found)
    refuse(ex,
           {404, codes::invalid_request,
            "There is no such session: begin "
            "anew with initialize"},
           id);
  return found;
}

void initialize(service& home, exchange& ex, const rpc_message& message) {
  const auto asked = message.text("protocolVersion");
  if (!asked)
    return refuse(
      ex, {200, codes::invalid_params, "params.protocolVersion is missing"},
      message.id);
  std::string version;
  const auto result = initialize_result(*asked, version);
  const auto session = home.sessions.open(version, ex.who());
  response r;
  r.body = result_text(message.id, result);
  r.fields.emplace_back("mcp-session-id", session->id());
  ex.answer(std::move(r));
}

/// The id of a request that is not wanted any more.
void cancel_in(protocol_session& session, const rpc_message& message) {
  const auto* id = message.params.if_contains("requestId");
  if (message.method == "notifications/cancelled" && id
      && (id->is_string() || id->is_int64() || id->is_uint64()))
    session.cancel(json::to_text(*id));
}

void serve_legacy(const service_ptr& home, const exchange_ptr& ex,
                  rpc_message message) {
  if (message.is_request() && message.method == "initialize")
    return initialize(*home, *ex, message);
  auto session = session_of(*home, *ex, message.id);
  if (!session)
    return;
  if (!message.is_request()) {
    cancel_in(*session, message);
    return accept(*ex);
  }
  std::make_shared<request_call>(home, ex, std::move(message), era::legacy,
                                 std::move(session))
    ->run();
}

void serve_modern(const service_ptr& home, const exchange_ptr& ex,
                  rpc_message message) {
  if (message.what == rpc_message::kind::response)
    return refuse(*ex,
                  {400, codes::invalid_request,
                   "A response answers nothing here: the server sends no "
                   "requests"},
                  message.id);
  if (!message.is_request())
    return accept(*ex);
  if (auto bad = check_modern(ex->in(), message))
    return refuse(*ex, *bad, message.id);
  std::make_shared<request_call>(home, ex, std::move(message), era::modern,
                                 nullptr)
    ->run();
}

void post(const service_ptr& home, const exchange_ptr& ex) {
  const auto& in = ex->in();
  if (!is_json(in))
    return refuse(
      *ex,
      {415, codes::invalid_request, "Send 'Content-Type: application/json'"});
  auto read = read_message(in.body);
  if (auto* bad = std::get_if<bad_message>(&read))
    return refuse(*ex, bad->why, bad->id);
  auto& message = std::get<rpc_message>(read);
  if (!takes_answers(in))
    return refuse(*ex,
                  {406, codes::invalid_request,
                   "Accept must take application/json and "
                   "text/event-stream"},
                  message.id);
  if (era_of(in, message) == era::modern)
    serve_modern(home, ex, std::move(message));
  else
    serve_legacy(home, ex, std::move(message));
}

void get(const service_ptr& home, const exchange_ptr& ex) {
  const auto& in = ex->in();
  if (in.verb != method::get)
    return refuse(*ex, {405, codes::invalid_request, "Use POST"});
  if (!takes_events(in))
    return refuse(
      *ex, {406, codes::invalid_request, "Accept must take text/event-stream"});
  if (auto session = session_of(*home, *ex))
    open_legacy_stream(home, ex, std::move(session));
}

void del(const service_ptr& home, const exchange_ptr& ex) {
  const auto session = session_of(*home, *ex);
  if (!session)
    return;
  home->sessions.close(session->id(), ex->who());
  accept(*ex, 204);
}

} // namespace

void add_mcp(router& routes, engine& core, mcp_options options) {
  auto home = std::make_shared<service>(core, options);
  route_rules rules;
  rules.needs = static_cast<std::uint8_t>(scope::run);
  rules.body = body_rule::any;
  rules.body_limit = options.body_limit;
  rules.failure = write_refusal;
  auto add = [&](method verb,
                 void (*serve)(const service_ptr&, const exchange_ptr&)) {
    routes.add(
      verb, "/mcp", [home, serve](exchange_ptr ex) { serve(home, ex); }, rules);
  };
  add(method::post, post);
  add(method::get, get);
  add(method::del, del);
  routes.style("/mcp", write_refusal);
}

} // namespace troupe::net::mcp
