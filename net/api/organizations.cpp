// Tenants: an operator sees all of them, everybody else his own.
#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "runtime/json/writer.hpp"

#include <set>

namespace troupe::net {

namespace {

constexpr std::string_view list_name = "organizations";

/// Those that have something, or a key to begin with.
std::set<organization_id> known_to(const catalog& all, const caller& who) {
  std::set<organization_id> out;
  for (const auto& [id, organization] : all.organizations)
    out.insert(id);
  for (const auto& [hash, key] : all.keys_by_hash)
    out.insert(key->organization);
  if (!is_operator(who))
    std::erase_if(out, [&](const auto& id) { return id != who.organization; });
  return out;
}

std::string text_of(const catalog& all, const organization_id& id) {
  static const organization_catalog nothing;
  const auto* found = all.find(id);
  const auto& mine = found ? *found : nothing;
  std::size_t keys = 0;
  for (const auto& [hash, key] : all.keys_by_hash)
    keys += key->organization == id;
  json::object_writer out;
  out.text("id", id.str())
    .number("tools", mine.tools.size())
    .number("sandbox_configs", mine.configs.size())
    .number("variables", mine.variables_by_id.size())
    .number("keys", keys);
  return out.finish();
}

void list(engine& core, const exchange_ptr& ex) {
  auto page = page_of(*ex, list_name);
  if (!page)
    return;
  auto all = core.snapshot();
  auto known = known_to(*all, ex->who());
  answer_page(
    *ex, *page, list_name, known.upper_bound(organization_id{page->after}),
    known.end(), [](const auto& id) { return id.str(); },
    [&](const auto& id) { return text_of(*all, id); });
}

void own(engine& core, const exchange_ptr& ex) {
  caller_catalog mine{core, ex->who().organization};
  std::size_t variables = mine->variables_by_id.size();
  json::object_writer out;
  out.text("id", ex->who().organization.str())
    .text_or_null("key_id", ex->who().key.str())
    .boolean("can_run", ex->has_scope(scope::run))
    .boolean("can_config", ex->has_scope(scope::config))
    .boolean("can_admin", ex->has_scope(scope::admin))
    .boolean("can_operate", ex->has_scope(scope::operate))
    .number("tools", mine->tools.size())
    .number("sandbox_configs", mine->configs.size())
    .number("variables", variables);
  ex->answer_json(out.finish());
}

/// Its tools, configs, variables and keys, and the key that its values are
/// sealed with. Whose it is not gets the answer that an unknown one gets.
void remove(engine& core, const exchange_ptr& ex) {
  auto id = organization_id::parse(ex->param(0));
  if (!id || !known_to(*core.snapshot(), ex->who()).contains(*id)) {
    respond_not_found(*ex, "organization", "/v1/organizations");
    return;
  }
  core.change(ex->who(), delete_organization{*id},
              [ex](result<change_reply> done) {
                if (done)
                  respond_no_content(*ex);
                else
                  ex->fail(done.error());
              });
}

} // namespace

void add_organizations(router& routes, engine& core) {
  const std::string place = "/v1/organizations";
  auto of_any_caller = needing(scope::run, body_rule::none);
  of_any_caller.needs = 0;
  routes.add(
    method::get, place, [&core](exchange_ptr ex) { list(core, ex); },
    listing(scope::run));
  routes.add(
    method::get, place + "/self", [&core](exchange_ptr ex) { own(core, ex); },
    of_any_caller);
  routes.add(
    method::del, place + "/{organization}",
    [&core](exchange_ptr ex) { remove(core, ex); },
    needing(scope::admin, body_rule::none));
}

} // namespace troupe::net
