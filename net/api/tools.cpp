#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/tool_body.hpp"
#include "runtime/engine/schema_deriver.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view list_name = "tools";

/// As runs, and other engines, call these.
constexpr json::reader::alias tool_aliases[]{
  {"source", "source_code"},
  {"code", "source_code"},
  {"language", "source_type"},
  {"function", "name"},
  {"schema", "json_schema"},
  {"parameters", "args_json_schema, or json_schema"},
  {"input_schema", "args_json_schema, or json_schema"},
  {"requirements", "pip_requirements"},
  {"packages", "pip_requirements or npm_requirements"},
  {"pip", "pip_requirements"},
  {"npm", "npm_requirements"},
};

std::string text_of(const tool& t) {
  return json::to_text(to_json(t));
}

/// The tool in the path, by id or by name.
std::shared_ptr<const tool> tool_in_path(const caller_catalog& mine,
                                         std::string_view text) {
  if (auto id = tool_id::parse(text)) {
    auto i = mine->tools.find(*id);
    return i == mine->tools.end() ? nullptr : i->second;
  }
  auto named = mine->tools_by_name.find(text);
  if (named == mine->tools_by_name.end())
    return nullptr;
  auto i = mine->tools.find(named->second);
  return i == mine->tools.end() ? nullptr : i->second;
}

void answer_missing_tool(exchange& ex, const organization_catalog& mine) {
  std::vector<std::string_view> names;
  for (const auto& [name, id] : mine.tools_by_name)
    names.push_back(name);
  respond_not_found(ex, "tool", "/v1/tools", json::nearest(ex.param(0), names));
}

/// Create (`must_be_new`) or replace by name.
void put(engine& core, const exchange_ptr& ex, bool must_be_new) {
  auto given = read_if_match(*ex);
  if (given.failed)
    return;
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  in.knows_elsewhere(tool_aliases);
  in.required_text("source_code", {.min = 1, .max = bounds::source_bytes});
  auto value = read_tool(in, {}, {});
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  complete_tool(
    core, ex->who(), std::move(value),
    [&core, ex, must_be_new, given](result<tool> full) {
      if (!full) {
        ex->fail(full.error());
        return;
      }
      put_tool change{std::move(*full), must_be_new, given.revision};
      core.change(ex->who(), std::move(change),
                  [ex, given](result<change_reply> done) {
                    if (!done)
                      fail_change(*ex, done.error(), given);
                    else
                      respond_resource(*ex, text_of(*done->tool), done->created,
                                       done->tool->revision,
                                       "/v1/tools/" + done->tool->id.str());
                  });
    });
}

void derive(engine& core, const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto source
    = in.required_text("source_code", {.min = 1, .max = bounds::source_bytes});
  auto lang = in.one_of("source_type", {"python", "typescript", "javascript"});
  auto function = in.text("function", {.max = bounds::name_bytes});
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  auto parsed = parse_language(lang.value_or("python"));
  core.derive_schema(ex->who(), parsed ? *parsed : language::python,
                     std::move(source), function.value_or(""),
                     [ex](result<derived_schema> derived) {
                       auto done = with_parameters(std::move(derived));
                       if (!done) {
                         ex->fail(done.error());
                         return;
                       }
                       json::object_writer out;
                       out.text("name", done->name)
                         .text("description", done->description)
                         .raw("schema", json::to_text(done->schema));
                       ex->answer_json(out.finish());
                     });
}

void list(engine& core, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto page = read_page(query, ex->who().organization, list_name);
  auto search = query.text("search");
  auto tag = query.text("tag");
  if (auto bad = query.finish()) {
    ex->fail(*bad);
    return;
  }
  caller_catalog mine{core, ex->who().organization};
  const auto& names = mine->tools_by_name;
  auto tool_of = [&](const auto& name) {
    auto found = mine->tools.find(name.second);
    return found == mine->tools.end() ? nullptr : found->second.get();
  };
  answer_page(
    *ex, page, list_name, names.upper_bound(page.after), names.end(),
    [](const auto& name) { return name.first; },
    [&](const auto& name) { return text_of(*tool_of(name)); },
    [&](const auto& name) {
      auto* t = tool_of(name);
      return t && (!search || name.first.find(*search) != std::string::npos)
        && (!tag || std::ranges::find(t->tags, *tag) != t->tags.end());
    });
}

void find(engine& core, const exchange_ptr& ex) {
  caller_catalog mine{core, ex->who().organization};
  auto found = tool_in_path(mine, ex->param(0));
  if (!found) {
    answer_missing_tool(*ex, *mine);
    return;
  }
  if (is_unchanged(ex->in(), found->revision)) {
    response r;
    r.status = 304;
    r.fields.emplace_back("etag", make_etag(found->revision));
    ex->answer(std::move(r));
    return;
  }
  respond_resource(*ex, text_of(*found), false, found->revision, {});
}

void update(engine& core, const exchange_ptr& ex) {
  auto given = read_if_match(*ex);
  if (given.failed)
    return;
  auto body = body_of(*ex);
  if (!body)
    return;
  caller_catalog mine{core, ex->who().organization};
  auto found = tool_in_path(mine, ex->param(0));
  if (!found) {
    answer_missing_tool(*ex, *mine);
    return;
  }
  json::reader in{*body};
  in.knows_elsewhere(tool_aliases);
  auto value = read_tool(in, *found, {});
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  // New source without a new schema: the old one no longer describes it.
  bool derive_again
    = body->contains("source_code") && !body->contains("json_schema");
  // What was read is what is replaced: a change in between is a conflict.
  auto revision = given.revision.value_or(found->revision);
  auto replace = [&core, ex, given, revision](result<tool> full) {
    if (!full) {
      ex->fail(full.error());
      return;
    }
    update_tool change{std::move(*full), revision};
    core.change(ex->who(), std::move(change),
                [ex, given](result<change_reply> done) {
                  if (!done)
                    fail_change(*ex, done.error(), given);
                  else
                    respond_resource(*ex, text_of(*done->tool), false,
                                     done->tool->revision, {});
                });
  };
  if (derive_again && value.source_type != language::python)
    return refresh_tool(core, ex->who(), std::move(value), std::move(replace));
  if (derive_again) // Python that has no schema is refused
    value.json_schema.reset();
  complete_tool(core, ex->who(), std::move(value), std::move(replace));
}

void remove(engine& core, const exchange_ptr& ex) {
  auto given = read_if_match(*ex);
  if (given.failed)
    return;
  caller_catalog mine{core, ex->who().organization};
  auto found = tool_in_path(mine, ex->param(0));
  if (!found) {
    answer_missing_tool(*ex, *mine);
    return;
  }
  core.change(ex->who(), delete_tool{found->id, given.revision},
              [ex, given](result<change_reply> done) {
                if (done)
                  respond_no_content(*ex);
                else
                  fail_change(*ex, done.error(), given);
              });
}

} // namespace

void add_tools(router& routes, engine& core, const api_options& options,
               const memory_ptr& memory) {
  auto write = needing(scope::config);
  write.body_limit = options.run_body_limit;
  auto read = needing(scope::run, body_rule::none);
  auto with
    = [&core](auto f) { return [&core, f](exchange_ptr ex) { f(core, ex); }; };
  auto create = [&core](exchange_ptr ex) { put(core, ex, true); };
  auto upsert = [&core](exchange_ptr ex) { put(core, ex, false); };
  routes.add(method::post, "/v1/tools", memory->remembering(create), write);
  routes.add(method::put, "/v1/tools", upsert, write);
  routes.add(method::post, "/v1/tools/derive-schema",
             memory->remembering(with(derive)), write);
  routes.add(method::get, "/v1/tools", with(list), listing(scope::run));
  routes.add(method::get, "/v1/tools/{tool}", with(find), read);
  routes.add(method::patch, "/v1/tools/{tool}", with(update), write);
  routes.add(method::del, "/v1/tools/{tool}", with(remove),
             needing(scope::config, body_rule::none));
}

} // namespace troupe::net
