// Living sandboxes: made, found, listed, renewed, deleted.
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view sandbox_list = "sandboxes";
constexpr std::size_t most_filters = 64;

std::string sandbox_text(const sandbox_record_ptr& r) {
  return json::to_text(to_json(*r));
}

void create_sandbox(sandbox_engine& engine, const exchange_ptr& ex) {
  auto body = optional_body_of(*ex);
  if (!body)
    return;
  auto spec = parse_sandbox_spec(*body);
  if (!spec) {
    ex->fail(spec.error());
    return;
  }
  const bool waits = spec->wait_until_running;
  const bool joins = !spec->session.empty(); // one that may be there
  engine.create(
    ex->who(), std::move(*spec),
    or_fail<sandbox_record_ptr>(
      ex, [waits, joins](exchange& ex, const sandbox_record_ptr& made) {
        response r;
        r.status = !waits ? 202 : joins ? 200 : 201;
        r.body = sandbox_text(made);
        r.fields.emplace_back("location", "/v1/sandboxes/" + made->id.str());
        ex.answer(std::move(r));
      }));
}

/// `metadata=name:value`, as often as wanted.
void read_metadata_filter(query_reader& query, sandbox_filter& into) {
  const auto all = query.texts("metadata");
  if (all.size() > most_filters)
    query.complain("metadata", "is given more than 64 times");
  for (const auto& pair : all) {
    const auto colon = pair.find(':');
    if (colon == pair.npos || colon == 0)
      query.complain("metadata", "is no pair", "write metadata=name:value");
    else
      into.metadata[pair.substr(0, colon)] = pair.substr(colon + 1);
  }
}

std::optional<sandbox_filter> read_filter(exchange& ex) {
  query_reader query{ex.in().query};
  const auto page = read_page(query, ex.who().organization, sandbox_list);
  sandbox_filter wanted;
  wanted.limit = page.limit;
  wanted.after = page.after;
  for (const auto& text : query.texts("state")) {
    auto state = parse_sandbox_state(text);
    if (state)
      wanted.states.push_back(*state);
    else
      query.complain("state", state.error().fields.at(0).reason,
                     state.error().fields.at(0).hint);
  }
  wanted.name = query.text("name").value_or("");
  wanted.template_name = query.text("template").value_or("");
  wanted.session = query.text("session").value_or("");
  if (auto text = query.text("place")) {
    auto place = parse_backend_name(*text);
    if (place)
      wanted.place = *place;
    else
      query.complain("place", "is no place", "GET /v1/backends shows them");
  }
  read_metadata_filter(query, wanted);
  if (auto bad = query.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return wanted;
}

void list_sandboxes(sandbox_engine& engine, const exchange_ptr& ex) {
  auto wanted = read_filter(*ex);
  if (!wanted)
    return;
  engine.list(ex->who(), std::move(*wanted),
              or_fail<page<sandbox_record_ptr>>(
                ex, [](exchange& ex, const page<sandbox_record_ptr>& found) {
                  answer_items(ex, sandbox_list,
                               json::array_of(found.items, sandbox_text),
                               found.next);
                }));
}

void renew_sandbox(sandbox_engine& engine, const sandbox_id& id,
                   const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  auto timeout = parse_renewal(*body);
  if (!timeout) {
    ex->fail(timeout.error());
    return;
  }
  engine.renew(ex->who(), id, *timeout, record_or_fail(ex));
}

} // namespace

void add_sandboxes(router& routes, const api_options& options,
                   const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  all.add(method::post, create_sandbox, needing(scope::run));
  all.add(method::get, list_sandboxes, listing(scope::run));
  all.add(
    method::get, "",
    [](sandbox_engine& engine, const sandbox_id& id, const exchange_ptr& ex) {
      engine.find(ex->who(), id, record_or_fail(ex));
    },
    needing(scope::run, body_rule::none));
  all.add(method::post, "/renew", renew_sandbox, needing(scope::run));
  all.add(
    method::del, "",
    [](sandbox_engine& engine, const sandbox_id& id, const exchange_ptr& ex) {
      engine.remove(ex->who(), id, nothing_or_fail(ex));
    },
    needing(scope::run, body_rule::none));
}

} // namespace troupe::net
