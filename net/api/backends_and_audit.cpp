// What operators and owners look at: backends and the audit.
#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "runtime/engine/audit_page.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view audit_list = "audit";
constexpr std::int64_t most_at_once = 1'000; // as a page of any list

std::string text_of(const backend_node& n) {
  json::object_writer out;
  out.text("name", n.name)
    .boolean("ready", n.ready)
    .text("reason", n.reason)
    .text("circuit", n.circuit)
    .number("running", n.running)
    .number("runs", n.runs)
    .number("failures", n.failures);
  return out.finish();
}

std::string text_of(const backend_health& b) {
  json::object_writer out;
  out.text("name", to_string(b.name))
    .text("kind", to_string(b.name.kind()))
    .boolean("configured", b.configured)
    .boolean("ready", b.ready)
    .text("reason", b.reason)
    .text("circuit", b.circuit)
    .number("running", b.running)
    .number("waiting", b.waiting)
    .number("limit", b.limit)
    .raw("nodes", json::array_of(b.nodes, [](const backend_node& n) {
           return text_of(n);
         }));
  return out.finish();
}

std::string text_of(const audit_entry& e) {
  json::object_writer out;
  out.number("sequence", e.sequence)
    .text("at", to_text(e.at))
    .text("hash", e.hash)
    .raw("details", json::to_text(e.what));
  return out.finish();
}

void backends(engine& core, const exchange_ptr& ex) {
  core.health([ex](result<engine_health> found) {
    if (!found) {
      ex->fail(found.error());
      return;
    }
    json::object_writer out;
    out.boolean("ready", found->ready)
      .raw("items",
           json::array_of(found->backends,
                          [](const backend_health& b) { return text_of(b); }));
    ex->answer_json(out.finish());
  });
}

void audit(engine& core, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto page = read_page(query, ex->who().organization, audit_list);
  auto last = query.integer("last", 1, most_at_once);
  if (last && !page.after.empty())
    query.complain("last", "does not go with after", "give one of them");
  if (auto bad = query.finish()) {
    ex->fail(*bad);
    return;
  }
  std::uint64_t after = 0;
  for (char c : page.after) // our own cursor: digits
    after = after * 10 + static_cast<std::uint64_t>(c - '0');
  if (last) {
    after = newest_audit_entries;
    page.limit = static_cast<std::size_t>(*last);
  }
  core.list_audit(ex->who(), after, page.limit,
                  [ex](result<troupe::page<audit_entry>> found) {
                    if (!found) {
                      ex->fail(found.error());
                      return;
                    }
                    auto next = found->next.empty() || found->items.empty()
                      ? std::string{}
                      : std::to_string(found->items.back().sequence);
                    answer_items(*ex, audit_list,
                                 json::array_of(found->items,
                                                [](const audit_entry& e) {
                                                  return text_of(e);
                                                }),
                                 next);
                  });
}

} // namespace

void add_insight(router& routes, engine& core) {
  routes.add(
    method::get, "/v1/backends",
    [&core](exchange_ptr ex) { backends(core, ex); },
    needing(scope::run, body_rule::none));
  routes.add(
    method::get, "/v1/audit", [&core](exchange_ptr ex) { audit(core, ex); },
    listing(scope::admin));
}

} // namespace troupe::net
