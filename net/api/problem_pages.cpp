// What the `type` of a problem leads to: a page for each code.
#include "net/api/routes.hpp"
#include "net/http/problem.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

struct problem_page {
  std::string_view code;
  std::string_view meaning;
  std::string_view way_out;
};

constexpr problem_page pages[] = {
  // -- of the engine ---------------------------------------------------------
  {"invalid_request", "The request is not valid.",
   "Change what `errors` points to; a repeated request fails again."},
  {"not_found", "It does not exist, or belongs to another organization.",
   "Look it up in the list of its kind."},
  {"conflict", "It has changed, exists already, or is in use.",
   "Read it again, then decide."},
  {"denied", "The engine, or a policy of its operator, does not allow this.",
   "Ask the operator."},
  {"unavailable", "The engine or a backend cannot take it at the moment.",
   "Repeat it after the time in Retry-After."},
  {"timeout", "It was not finished in time, and may have happened.",
   "Look at the run before you repeat it."},
  {"exhausted", "A limit on load is reached.",
   "Repeat it after the time in Retry-After, or send less at a time."},
  {"internal", "The engine failed.",
   "Report it, with the request_id and the log of the engine."},
  {"no_space", "The disk of the engine is full: nothing can be stored.",
   "The operator frees space; the engine goes on by itself."},
  // -- of HTTP ---------------------------------------------------------------
  {"unauthorized", "An API key is required, or this one is not valid.",
   "Send 'Authorization: Bearer troupe_...'; 'troupe key create' makes one."},
  {"scope_missing", "The API key does not have the scope for this.",
   "Use a key that has it; 'troupe org show' lists those of a key."},
  {"cross_site", "The request comes from a page of another site.",
   "Send it from a program, or from a page of this server."},
  {"misdirected_request", "The Host is not one of this server.",
   "Use its address, or add the name to http.allowed-hosts."},
  {"bad_request", "The request is not HTTP as this server accepts it.",
   "Correct the client; `detail` says what is wrong."},
  {"malformed_json", "The body is not a JSON object.",
   "Correct it at the position in `detail`."},
  {"unexpected_body", "This request must not have a body.", "Leave it out."},
  {"unsupported_media_type", "The type of the body is not supported.",
   "Send 'Content-Type: application/json'."},
  {"unsupported_encoding", "The body has a Content-Encoding.",
   "Send it without."},
  {"method_not_allowed", "The path does not know this method.",
   "Use one of those in Allow."},
  {"not_implemented", "The method or coding is not implemented.",
   "Use another one; the document at /openapi.json has them."},
  {"http_version_not_supported", "The version of HTTP is not supported.",
   "Speak HTTP/1.1."},
  {"body_too_large", "The body is larger than the limit of this path.",
   "Send less, or raise http.max-body."},
  {"head_too_large", "The request line and fields are too large.",
   "Send fewer, or raise http.max-header."},
  {"target_too_long", "The path with its query is too long.", "Shorten it."},
  {"too_many_fields", "There are too many header fields.", "Send fewer."},
  {"request_timeout", "The request did not arrive in time.",
   "Repeat it over a better connection."},
  {"expectation_failed", "The expectation is not supported.",
   "The only one is 100-continue."},
  {"bad_user_id", "user_id is not an id.", "It has the form user-<uuid4>."},
  {"bad_last_event_id", "Last-Event-ID is not a number.",
   "Send the `id` of an event."},
  {"bad_idempotency_key", "The Idempotency-Key is empty or too long.",
   "Use a text of up to 255 characters, such as a UUID."},
  {"idempotency_key_in_use",
   "A request with this Idempotency-Key is in progress.",
   "Wait for it, or use another key."},
  {"idempotency_key_reused",
   "This Idempotency-Key was used for another request.", "Use another key."},
  {"secret_not_repeatable",
   "The first answer held a secret, which is never shown again.",
   "Use what was created then, or create another one."},
  {"precondition_failed", "If-Match or If-None-Match does not hold.",
   "Read it again, then decide."},
  {"range_not_satisfiable", "The file has no bytes in this range.",
   "Ask for one that begins before its end; Content-Range has its size."},
  {"upgrade_required",
   "This path leaves HTTP, for the bytes of a port or a WebSocket.",
   "Send the fields that `detail` names."},
  // -- of sandboxes ----------------------------------------------------------
  {"sandbox_not_running", "The sandbox is not running.",
   "Wait for it, or look at its state."},
  {"sandbox_paused", "The sandbox is paused.", "Resume it first."},
  {"sandbox_ended", "The sandbox has ended.", "Create another one."},
  {"process_ended", "The process has ended.",
   "Read its output and exit code, or start another one."},
  {"context_lost", "The interpreter of the context has ended, with its state.",
   "Restart the context, or create it with auto_restart."},
  {"context_not_branchable", "The context has what a branch cannot take along.",
   "`detail` says what: end or close it, or use fork."},
  {"nothing_listens", "Nothing in the sandbox listens on this port.",
   "Start a server there, or look at the list of its ports."},
  {"bad_answer", "The server in the sandbox answers no HTTP.",
   "Correct that server, or use the tunnel of the port."},
  {"port_token_required", "The port needs a token, or this one is not valid.",
   "Open the port, and use the URL or the token of the answer."},
  {"too_many_connections", "The port has as many connections as it may.",
   "Close some, or repeat it later."},
  {"start_failed", "The sandbox or the process could not be started.",
   "`detail` says why."},
  {"unsupported_here", "The place of this sandbox cannot do that.",
   "Use another place."},
  {"template_not_found", "There is no such template.", "Use one that exists."},
  {"disk_limit", "The disk of the sandbox is full.",
   "Remove files, or create it with a larger disk."},
  {"quota", "The organization has as many sandboxes as it may.",
   "Delete one, or raise sandbox.max-per-organization."},
  {"queue_full", "Too many sandboxes wait to be created.",
   "Repeat it after the time in Retry-After."},
  {"place_unavailable", "The place for this sandbox cannot be reached.",
   "Repeat it later, or use another place."},
};

void show(const exchange_ptr& ex) {
  const auto* page
    = std::ranges::find(pages, ex->param(0), &problem_page::code);
  if (page == std::end(pages)) {
    ex->refuse(404, "not_found", "there is no such problem");
    return;
  }
  response r;
  r.type = text_type;
  r.body.append(page->code).append("\n\n").append(page->meaning);
  r.body.append("\n").append(page->way_out).append("\n");
  ex->answer(std::move(r));
}

} // namespace

void add_problem_pages(router& routes) {
  route_rules rules;
  rules.public_route = true;
  rules.body = body_rule::none;
  routes.add(method::get, "/problems/{code}", show, rules);
}

} // namespace troupe::net
