#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/tool_body.hpp"
#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>

namespace troupe::net::letta {

namespace {

const tool_spelling as_created{"", false};
const tool_spelling as_updated{"metadata_", false};

std::string schema_name(const std::optional<json::object>& schema) {
  auto* name = schema ? schema->if_contains("name") : nullptr;
  return name && name->is_string() ? std::string{name->get_string()} : "";
}

/// The header by which Letta's clients ask for Modal.
void mark_modal(const exchange& ex, tool& t) {
  if (equal_ignoring_case(ex.in().field("x-experimental-modal-sandbox"),
                          "true"))
    t.metadata["sandbox"] = "modal";
}

/// Create and upsert are one operation: insert or replace by name.
void put(engine& core, const letta_options&, const exchange_ptr& ex) {
  auto body = letta::body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  in.required_text("source_code", {.min = 1, .max = bounds::source_bytes});
  auto value = read_tool(in, {}, as_created);
  if (value.source_type == language::typescript && !value.json_schema)
    in.complain("json_schema", "is required for TypeScript tools");
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  value.project_id = std::string{ex->in().field("x-project-id").substr(0, 256)};
  value.metadata[lenient_mark] = true; // as its makers are used to
  mark_modal(*ex, value);
  describe_tool(core, ex->who(), std::move(value),
                [&core, ex](result<tool> full) {
                  if (!full) {
                    fail_engine(*ex, full.error());
                    return;
                  }
                  // Empty tags do not take away what is there.
                  caller_catalog mine{core, ex->who().organization};
                  auto known = mine->tools_by_name.find(full->name);
                  if (full->tags.empty() && known != mine->tools_by_name.end())
                    if (auto old = mine->tools.find(known->second);
                        old != mine->tools.end())
                      full->tags = old->second->tags;
                  core.change(ex->who(), put_tool{std::move(*full), false},
                              [ex](result<change_reply> done) {
                                if (done)
                                  ex->answer_json(text_of(*done->tool));
                                else
                                  fail_engine(*ex, done.error());
                              });
                });
}

std::shared_ptr<const tool> tool_in_path(const caller_catalog& mine,
                                         std::string_view text) {
  auto id = tool_id::parse(text);
  if (!id)
    return nullptr;
  auto i = mine->tools.find(*id);
  return i == mine->tools.end() ? nullptr : i->second;
}

void not_found(exchange& ex) {
  fail(ex, 404, "NOT_FOUND: there is no tool " + std::string{ex.param(0)});
}

void find(engine& core, const letta_options&, const exchange_ptr& ex) {
  caller_catalog mine{core, ex->who().organization};
  if (auto found = tool_in_path(mine, ex->param(0)))
    ex->answer_json(text_of(*found));
  else
    not_found(*ex);
}

bool is_derived_description(const tool& t) {
  auto* said
    = t.json_schema ? t.json_schema->if_contains("description") : nullptr;
  return said && said->is_string() && said->get_string() == t.description;
}

/// New source has to hold the function that the schema names.
bool defines(const tool& t) {
  auto word = t.source_type == language::python ? "def " : "function ";
  return t.source_code.find(word + t.name) != std::string::npos;
}

void change_tool(engine& core, const exchange_ptr& ex, tool value) {
  core.change(ex->who(), update_tool{std::move(value), {}},
              [ex](result<change_reply> done) {
                if (done)
                  ex->answer_json(text_of(*done->tool));
                else if (done.error().code == ec::conflict)
                  fail(*ex, 400, "INVALID_ARGUMENT: " + done.error().text);
                else
                  fail_engine(*ex, done.error());
              });
}

void update(engine& core, const letta_options&, const exchange_ptr& ex) {
  auto body = letta::body_of(*ex);
  if (!body)
    return;
  caller_catalog mine{core, ex->who().organization};
  auto found = tool_in_path(mine, ex->param(0));
  if (!found) {
    not_found(*ex);
    return;
  }
  json::reader in{*body};
  bool own_schema = in.has("json_schema");
  bool own_args = !own_schema && in.has("args_json_schema");
  bool own_source = in.has("source_code");
  auto value = read_tool(in, *found, as_updated);
  if (auto bad = in.finish_lenient()) {
    fail_validation(*ex, *bad);
    return;
  }
  value.metadata.erase("tool_hash"); // which is worked out, not kept
  if (auto* mark = found->metadata.if_contains(lenient_mark))
    value.metadata.emplace(lenient_mark, *mark);
  mark_modal(*ex, value);
  if (own_schema) {
    auto name = schema_name(value.json_schema);
    if (!name.empty())
      value.name = name;
  }
  if (own_source && !defines(value)) {
    fail(*ex, 400,
         "INVALID_ARGUMENT: the source defines no function '" + value.name
           + "'");
    return;
  }
  auto replace = [&core, ex](result<tool> full) {
    if (full)
      change_tool(core, ex, std::move(*full));
    else
      fail_engine(*ex, full.error());
  };
  if (own_args && value.source_type == language::python) {
    // What had come from the docstring comes from it again.
    if (!in.has("description") && is_derived_description(*found))
      value.description.clear();
    value.json_schema.reset();
    complete_tool(core, ex->who(), std::move(value), std::move(replace));
    return;
  }
  if (own_source && !own_schema && !own_args) { // theirs goes stale: #1874
    refresh_tool(core, ex->who(), std::move(value), std::move(replace));
    return;
  }
  change_tool(core, ex, std::move(value));
}

void remove(engine& core, const letta_options&, const exchange_ptr& ex) {
  caller_catalog mine{core, ex->who().organization};
  auto found = tool_in_path(mine, ex->param(0));
  if (!found) { // as Letta has it: a value error, not a 404
    fail(*ex, 400,
         "INVALID_ARGUMENT: there is no tool " + std::string{ex->param(0)});
    return;
  }
  core.change(ex->who(), delete_tool{found->id},
              [ex](result<change_reply> done) {
                if (done)
                  ex->answer_json("null");
                else
                  fail_engine(*ex, done.error());
              });
}

// -- lists -------------------------------------------------------------------

/// Repeated or comma-separated values of a query parameter.
std::vector<std::string> values_of(query_reader& query, std::string_view name) {
  std::vector<std::string> out;
  for (std::string_view all : query.texts(name))
    while (!all.empty()) {
      auto comma = all.find(',');
      if (auto one = trim(all.substr(0, comma)); !one.empty())
        out.emplace_back(one);
      all = comma == std::string_view::npos ? std::string_view{}
                                            : all.substr(comma + 1);
    }
  return out;
}

struct tool_filter {
  std::optional<std::string> name;
  std::vector<std::string> names;
  std::vector<std::string> ids;
  std::string search; // lower case
  std::vector<std::string> types;
  std::vector<std::string> not_types;
  bool only_built_in = false;
  std::string project;
};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

bool has(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// What Letta's tools may be of.
constexpr std::string_view tool_types[] = {"custom",
                                           "letta_core",
                                           "letta_memory_core",
                                           "letta_multi_agent_core",
                                           "letta_sleeptime_core",
                                           "letta_voice_sleeptime_core",
                                           "letta_builtin",
                                           "letta_files_core",
                                           "external_langchain",
                                           "external_composio",
                                           "external_mcp"};

/// The first that is none, which Letta refuses as a value, not as a form.
std::optional<error> check_types(const tool_filter& f) {
  for (const auto* list : {&f.types, &f.not_types})
    for (const auto& type : *list)
      if (std::ranges::find(tool_types, type) == std::end(tool_types))
        return bad_request("'" + type + "' is not a type of tool");
  return std::nullopt;
}

tool_filter read_filter(query_reader& query, const request& in) {
  tool_filter f;
  f.name = query.text("name");
  f.names = values_of(query, "names");
  f.ids = values_of(query, "tool_ids");
  f.search = lower(query.text("search").value_or(""));
  f.types = values_of(query, "tool_types");
  f.not_types = values_of(query, "exclude_tool_types");
  f.only_built_in = query.boolean("return_only_letta_tools").value_or(false);
  f.project = std::string{in.field("x-project-id")};
  return f;
}

bool matches(const tool_filter& f, const tool& t) {
  return (!f.name || *f.name == t.name)
    && (f.names.empty() || has(f.names, t.name))
    && (f.ids.empty() || has(f.ids, t.id.str()))
    && (f.search.empty() || lower(t.name).find(f.search) != t.name.npos)
    && (f.types.empty() || has(f.types, t.tool_type))
    && !has(f.not_types, t.tool_type)
    && (!f.only_built_in || t.tool_type.starts_with("letta_"))
    && (f.project.empty() || t.project_id.empty() || f.project == t.project_id);
}

std::vector<std::shared_ptr<const tool>> selected(engine& core,
                                                  const exchange& ex,
                                                  const tool_filter& filter,
                                                  bool ascending) {
  caller_catalog mine{core, ex.who().organization};
  std::vector<std::shared_ptr<const tool>> all;
  for (const auto& [id, one] : mine->tools)
    if (matches(filter, *one))
      all.push_back(one);
  auto before = [](const auto& a, const auto& b) {
    return std::tie(a->created_at, a->id) < std::tie(b->created_at, b->id);
  };
  std::sort(all.begin(), all.end(), before);
  if (!ascending)
    std::reverse(all.begin(), all.end());
  return all;
}

void list(engine& core, const letta_options&, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto filter = read_filter(query, ex->in());
  auto limit = query.integer("limit", 1, 10'000).value_or(50);
  auto order = query.text("order").value_or("desc");
  if (order != "asc" && order != "desc")
    query.complain("order", "must be 'asc' or 'desc'");
  auto after = query.text("after");
  auto before = query.text("before");
  if (auto bad = query.finish_lenient()) {
    fail_validation(*ex, *bad);
    return;
  }
  if (auto bad = check_types(filter)) {
    fail_engine(*ex, *bad);
    return;
  }
  auto all = selected(core, *ex, filter, order == "asc");
  auto is = [](const std::optional<std::string>& id) {
    return [&id](const auto& t) { return id && t->id.str() == *id; };
  };
  auto begin = all.begin();
  auto end = all.end();
  // Cursors that lead nowhere are passed over, as the clients are used to.
  if (auto i = std::find_if(begin, end, is(after)); i != end)
    begin = i + 1;
  if (auto i = std::find_if(begin, end, is(before)); i != end)
    end = i;
  auto most = static_cast<std::ptrdiff_t>(limit);
  if (before && !after && end - begin > most)
    begin = end - most; // the page just before
  if (end - begin > most)
    end = begin + most;
  std::vector<std::shared_ptr<const tool>> page{begin, end};
  ex->answer_json(
    json::array_of(page, [](const auto& t) { return text_of(*t); }));
}

void count(engine& core, const letta_options&, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto filter = read_filter(query, ex->in());
  if (query.boolean("exclude_letta_tools").value_or(false))
    filter.not_types.insert(filter.not_types.end(),
                            {"letta_core", "letta_memory_core",
                             "letta_sleeptime_core", "letta_builtin"});
  if (auto bad = query.finish_lenient())
    fail_validation(*ex, *bad);
  else if (auto unknown = check_types(filter))
    fail_engine(*ex, *unknown);
  else
    ex->answer_json(std::to_string(selected(core, *ex, filter, true).size()));
}

// -- the rest ----------------------------------------------------------------

/// The built-in tools belong to an agent server; this one has none to add.
void add_base_tools(engine&, const letta_options&, const exchange_ptr& ex) {
  ex->answer_json("[]");
}

void search(engine&, const letta_options&, const exchange_ptr& ex) {
  fail(*ex, 400,
       "INVALID_ARGUMENT: tool embedding is not enabled; list tools "
       "with ?search= instead");
}

void generate_tool(engine&, const letta_options&, const exchange_ptr& ex) {
  fail(*ex, 400,
       "INVALID_ARGUMENT: this server has no language model to write a tool "
       "with; send its source to POST /v1/tools/ instead");
}

} // namespace

void add_tools(doors& to, engine& core) {
  to.add(method::post, "/tools", core, put, scope::config);
  to.add(method::put, "/tools", core, put, scope::config);
  to.add(method::get, "/tools", core, list, scope::run);
  to.add(method::get, "/tools/count", core, count, scope::run);
  to.add(method::post, "/tools/generate-tool", core, generate_tool,
         scope::config);
  to.add(method::post, "/tools/add-base-tools", core, add_base_tools,
         scope::config);
  to.add(method::post, "/tools/search", core, search, scope::run);
  to.add(method::get, "/tools/{tool}", core, find, scope::run);
  to.add(method::patch, "/tools/{tool}", core, update, scope::config);
  to.add(method::del, "/tools/{tool}", core, remove, scope::config);
}

} // namespace troupe::net::letta
