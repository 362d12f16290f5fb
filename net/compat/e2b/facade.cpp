#include "net/compat/e2b/facade.hpp"

#include "net/api/shared/request_body.hpp"
#include "net/compat/e2b/sandbox_json.hpp"
#include "net/compat/e2b/wire/routing.hpp"
#include "runtime/base/text.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t control_body_limit = 1u << 20;

constexpr std::string_view no_token
  = "unauthorized access, please provide a valid access token or method "
    "signing if supported";

/// "i1234-local": what is behind the dash is of old clients.
std::optional<sandbox_id> id_of(std::string_view text) {
  auto id = sandbox_id::parse(text.substr(0, text.find('-')));
  if (!id)
    return std::nullopt;
  return std::move(*id);
}

signed_file file_of(const request& in, query_reader& query) {
  signed_file what;
  what.path = query.text("path").value_or("");
  what.write = in.verb == method::post;
  what.user = query.text("username").value_or("");
  what.expiration = query.integer("signature_expiration", 0,
                                  std::numeric_limits<std::int64_t>::max());
  return what;
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

/// Nothing: it is signed, and in time.
std::string_view why_not_signed(facade& shared, const request& in,
                                std::string_view sandbox) {
  query_reader query{in.query};
  const auto given = query.text("signature");
  const auto what = file_of(in, query);
  if (!given || given->empty())
    return "missing signature query parameter";
  const auto token = shared.tokens().token_of(sandbox);
  if (!equal_in_constant_time(*given, signature_of(what, token.reveal())))
    return "invalid signature";
  if (what.expiration && *what.expiration < seconds_now())
    return "signature is already expired";
  return {};
}

/// The one whose token the signature was made with, of those that are known.
std::optional<sandbox_id> signed_sandbox(facade& shared, const request& in) {
  query_reader query{in.query};
  const auto given = query.text("signature").value_or("");
  const auto what = file_of(in, query);
  std::optional<sandbox_id> found;
  for (const auto& id : shared.known().all()) {
    const auto token = shared.tokens().token_of(id.str());
    if (equal_in_constant_time(given, signature_of(what, token.reveal())))
      found = id;
  }
  return found;
}

/// False, and answered: it may not.
bool may_enter(facade& shared, exchange& ex, proof wanted,
               std::string_view sandbox) {
  const auto& in = ex.in();
  if (wanted == proof::none)
    return true;
  const auto token = in.field("x-access-token");
  if (!token.empty() || wanted == proof::token) {
    if (shared.tokens().is_token_of(token, sandbox))
      return true;
    refuse(ex, 401, no_token);
    return false;
  }
  const auto why = why_not_signed(shared, in, sandbox);
  if (why.empty())
    return true;
  refuse(ex, 401, why);
  return false;
}

/// Whether calls into it may be made, or will be when it is resumed for them.
bool takes_calls(const sandbox_record& r) {
  switch (r.state) {
  case sandbox_state::running:
  case sandbox_state::resuming:
    return true;
  case sandbox_state::pausing:
  case sandbox_state::paused:
    return r.auto_resume;
  default:
    return false;
  }
}

/// False, and answered: its ports take a token, and this is not it.
bool may_use_ports(facade& shared, exchange& ex, const sandbox_record& r) {
  if (!has_private_ports(r)
      || secret{std::string{ex.in().field("e2b-traffic-access-token")}}
        == shared.tokens().traffic_token_of(r.id.str()))
    return true;
  json::object_writer out;
  out.text("sandboxId", r.id.str())
    .text("message",
          "Traffic to the sandbox is not public; send its "
          "E2b-Traffic-Access-Token")
    .number("code", 403);
  ex.answer_json(out.finish(), 403);
  return false;
}

void enter(facade& shared, const exchange_ptr& ex, proof wanted, bool to_port,
           const visit_work& work) {
  auto* engine = shared.sandboxes(*ex);
  if (!engine)
    return;
  auto id = id_of(ex->param(0));
  if (!id && ex->param(0) == unnamed && wanted == proof::token_or_signature
      && ex->in().field("x-access-token").empty()) {
    id = signed_sandbox(shared, ex->in());
    if (!id)
      return refuse(*ex, 401, "invalid signature");
  }
  auto known = id ? shared.known().find(*id) : std::nullopt;
  if (!known)
    return refuse_gone(*ex, ex->param(0));
  if (!may_enter(shared, *ex, wanted, id->str()))
    return;
  const auto who = known->owner;
  engine->find(
    who, *id,
    [&shared, ex, work, to_port, id = *id,
     known = std::move(*known)](sandbox_result<sandbox_record_ptr> found) {
      if (found && to_port && !may_use_ports(shared, *ex, **found))
        return;
      if (found && takes_calls(**found))
        return work(shared, ex, {id, known.owner, known, std::move(*found)});
      if (!found && found.error().code == ec::not_found)
        shared.known().forget(id);
      refuse_gone(*ex, id.str());
    });
}

} // namespace

sandbox_engine* facade::sandboxes(exchange& ex) {
  if (!sandboxes_)
    fail_control(ex,
                 {sandbox_problem::place_unavailable, ec::unavailable,
                  "this engine has no place for sandboxes"});
  return sandboxes_;
}

void facade::serves(std::vector<std::string> urls) {
  std::lock_guard lock{mutex_};
  urls_ = std::move(urls);
}

std::vector<std::string> facade::urls() const {
  std::lock_guard lock{mutex_};
  return urls_;
}

// -- calls about sandboxes ----------------------------------------------------

void control_routes::add(method verb, std::string_view path, control_work work,
                         const route_rules& rules) {
  routes_.add(
    verb, std::string{base_path} + "/api" + std::string{path},
    [shared = shared_, work = std::move(work)](exchange_ptr ex) {
      work(*shared, ex);
    },
    rules);
}

void control_routes::add(method verb, std::string_view path,
                         control_work work) {
  route_rules rules;
  rules.needs = static_cast<std::uint8_t>(scope::run);
  rules.ignore_foreign_credentials = true; // keys come as X-API-Key
  rules.body = body_rule::any;
  rules.body_limit = control_body_limit;
  rules.failure = &write_error;
  add(verb, path, std::move(work), rules);
}

void control_routes::add_one(method verb, std::string_view path,
                             one_sandbox_work work) {
  add(verb, path,
      [work = std::move(work)](facade& shared, const exchange_ptr& ex) {
        const auto id = id_of(ex->param(0));
        if (!id)
          return refuse(
            *ex, 404, "sandbox '" + std::string{ex->param(0)} + "' not found");
        if (shared.sandboxes(*ex))
          work(shared, *id, ex);
      });
}

void control_routes::add_open(method verb, std::string_view path,
                              control_work work) {
  route_rules rules;
  rules.public_route = true;
  rules.body = body_rule::any;
  rules.failure = &write_error;
  add(verb, path, std::move(work), rules);
}

std::optional<json::object> control_body(exchange& ex) {
  if (trim(ex.in().body).empty())
    return json::object{};
  auto parsed = json::parse(ex.in().body, {.wiped = true});
  if (parsed && parsed->is_object())
    return std::move(parsed->get_object());
  if (parsed && parsed->is_null())
    return json::object{};
  refuse(ex, 400,
         parsed ? "the body must be a JSON object"
                : "the body: " + message_of(parsed.error()));
  return std::nullopt;
}

// -- calls into a sandbox -----------------------------------------------------

void data_routes::add(method verb, std::string_view path, proof wanted,
                      visit_work work, const route_rules& rules) {
  std::string pattern{data_path};
  pattern.append("{sandbox}").append(path);
  routes_.add(
    verb, std::move(pattern),
    [shared = shared_, wanted, to_port = !path.starts_with("/envd"),
     work = std::move(work)](exchange_ptr ex) {
      enter(*shared, ex, wanted, to_port, work);
    },
    rules);
}

void data_routes::add(method verb, std::string_view path, proof wanted,
                      visit_work work, std::size_t body_limit) {
  route_rules rules;
  rules.public_route = true;
  rules.body = body_rule::any;
  rules.body_limit = body_limit;
  rules.failure = &write_error;
  add(verb, path, wanted, std::move(work), rules);
}

void data_routes::add_port(method verb, visit_work work) {
  route_rules rules;
  rules.public_route = true;
  rules.takes_over = true;
  rules.failure = &write_error;
  add(verb, "/port/{port}", proof::none, std::move(work), rules);
}

} // namespace troupe::net::e2b_facade
