// Stored records: tools, configs, variables.
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/support.hpp"

namespace troupe {

namespace {

using codec::put;

constexpr std::size_t longest_stored_text = 64u << 20; // our own store wrote it
constexpr std::size_t most_tags = 10'000;

std::string stored_text(json::reader& in, std::string_view name) {
  return in.text(name, {.max = longest_stored_text}).value_or("");
}

/// Who and when: the end of every record.
template <class Record>
void write_times(json::object& o, const Record& r) {
  o["created_at"] = to_text(r.created_at);
  o["updated_at"] = to_text(r.updated_at);
}
template <class Record>
void write_authors(json::object& o, const Record& r) {
  put(o, "created_by", r.created_by);
  put(o, "updated_by", r.updated_by);
}

void read_time(json::reader& in, std::string_view name, timestamp& t) {
  if (auto text = in.text(name))
    t = codec::value_or_complain(in, name, parse_timestamp(*text));
}
template <class Record>
void read_times(json::reader& in, Record& r) {
  read_time(in, "created_at", r.created_at);
  read_time(in, "updated_at", r.updated_at);
}
template <class Record>
void read_authors(json::reader& in, Record& r) {
  r.created_by = stored_text(in, "created_by");
  r.updated_by = stored_text(in, "updated_by");
}

template <class Record>
void read_revision(json::reader& in, Record& r) {
  r.revision
    = static_cast<std::uint64_t>(in.integer("revision", 0).value_or(1));
}

std::optional<json::object> optional_object(json::reader& in,
                                            std::string_view name) {
  auto* o = in.member_object(name);
  return o == nullptr ? std::nullopt : std::optional{*o};
}

/// Newer versions may know more members: what is unknown is left alone.
template <class Record>
result<Record> finished(json::reader& in, Record r) {
  if (auto bad = in.finish_lenient())
    return *bad;
  return r;
}

} // namespace

json::object to_json(const tool& t) {
  json::object o;
  o["id"] = t.id.str();
  o["organization_id"] = t.organization.str();
  o["name"] = t.name;
  o["description"] = t.description;
  o["tool_type"] = t.tool_type;
  o["source_type"] = to_string(t.source_type);
  o["source_code"] = t.source_code;
  if (t.json_schema)
    o["json_schema"] = *t.json_schema;
  if (t.args_json_schema)
    o["args_json_schema"] = *t.args_json_schema;
  o["tags"] = codec::texts(t.tags);
  o["return_char_limit"] = t.return_char_limit;
  o["pip_requirements"] = to_json(t.pip_requirements);
  o["npm_requirements"] = to_json(t.npm_requirements);
  if (t.default_requires_approval)
    o["default_requires_approval"] = *t.default_requires_approval;
  o["enable_parallel_execution"] = t.enable_parallel_execution;
  o["metadata"] = t.metadata;
  put(o, "project_id", t.project_id);
  o["revision"] = t.revision;
  write_times(o, t);
  write_authors(o, t);
  return o;
}

result<tool> parse_tool(const json::object& body) {
  json::reader in{body};
  tool t;
  t.id = codec::stored_id<tool_id>(in, "id");
  t.organization = codec::stored_id<organization_id>(in, "organization_id");
  t.name = in.required_text("name", {.max = longest_stored_text});
  t.description = stored_text(in, "description");
  t.tool_type = in.text("tool_type").value_or(t.tool_type);
  if (auto text = in.text("source_type"))
    t.source_type
      = codec::value_or_complain(in, "source_type", parse_language(*text));
  t.source_code = stored_text(in, "source_code");
  t.json_schema = optional_object(in, "json_schema");
  t.args_json_schema = optional_object(in, "args_json_schema");
  t.tags = codec::read_texts(in, "tags", most_tags, longest_stored_text);
  t.return_char_limit = static_cast<std::uint32_t>(
    in.integer("return_char_limit", 1, max_return_char_limit)
      .value_or(default_return_char_limit));
  if (auto* v = in.member("pip_requirements"); v && !v->is_null())
    t.pip_requirements = codec::value_or_complain(in, "pip_requirements",
                                                  parse_pip_list(*v, ""));
  if (auto* v = in.member("npm_requirements"); v && !v->is_null())
    t.npm_requirements = codec::value_or_complain(in, "npm_requirements",
                                                  parse_npm_list(*v, ""));
  t.default_requires_approval = in.boolean("default_requires_approval");
  t.enable_parallel_execution
    = in.boolean("enable_parallel_execution").value_or(false);
  t.metadata = optional_object(in, "metadata").value_or(json::object{});
  t.project_id = stored_text(in, "project_id");
  read_revision(in, t);
  read_times(in, t);
  read_authors(in, t);
  return finished(in, std::move(t));
}

json::object to_json(const sandbox_config& c) {
  json::object o;
  o["id"] = c.id.str();
  o["organization_id"] = c.organization.str();
  o["type"] = to_string(c.type);
  o["config"] = c.config;
  o["revision"] = c.revision;
  write_times(o, c);
  write_authors(o, c);
  return o;
}

result<sandbox_config> parse_sandbox_config(const json::object& body) {
  json::reader in{body};
  sandbox_config c;
  c.id = codec::stored_id<config_id>(in, "id");
  c.organization = codec::stored_id<organization_id>(in, "organization_id");
  c.type = codec::value_or_complain(in, "type",
                                    parse_backend(in.required_text("type")));
  if (!in.has("config"))
    in.complain("config", "is missing");
  c.config = optional_object(in, "config").value_or(json::object{});
  read_revision(in, c);
  read_times(in, c);
  read_authors(in, c);
  return finished(in, std::move(c));
}

json::object to_json(const variable& v) {
  json::object o;
  o["id"] = v.id.str();
  o["organization_id"] = v.organization.str();
  o["sandbox_config_id"] = v.config.str();
  o["key"] = v.key;
  o["description"] = v.description;
  write_times(o, v);
  write_authors(o, v);
  return o;
}

result<variable> parse_variable(const json::object& body) {
  json::reader in{body};
  variable v;
  v.id = codec::stored_id<variable_id>(in, "id");
  v.organization = codec::stored_id<organization_id>(in, "organization_id");
  v.config = codec::stored_id<config_id>(in, "sandbox_config_id");
  v.key = in.required_text("key", {.max = longest_stored_text});
  v.description = stored_text(in, "description");
  read_times(in, v);
  read_authors(in, v);
  return finished(in, std::move(v));
}

json::object to_json(const agent_variable& v) {
  json::object o;
  o["id"] = v.id.str();
  o["organization_id"] = v.organization.str();
  o["agent_id"] = v.agent_id;
  o["key"] = v.key;
  o["description"] = v.description;
  write_times(o, v);
  return o;
}

result<agent_variable> parse_agent_variable(const json::object& body) {
  json::reader in{body};
  agent_variable v;
  v.id = codec::stored_id<agent_variable_id>(in, "id");
  v.organization = codec::stored_id<organization_id>(in, "organization_id");
  v.agent_id = in.required_text("agent_id", {.max = longest_stored_text});
  v.key = in.required_text("key", {.max = longest_stored_text});
  v.description = stored_text(in, "description");
  read_times(in, v);
  return finished(in, std::move(v));
}

} // namespace troupe
