#include "net/api/tool_body.hpp"

#include "runtime/engine/schema_deriver.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <cctype>

namespace troupe::net {

namespace {

constexpr std::size_t most_tags = 64;
constexpr std::size_t longest_tag = 128;
constexpr std::size_t longest_description = 64u << 10;

template <class T>
std::optional<T> taken(json::reader& in, result<T> parsed) {
  if (parsed)
    return std::move(*parsed);
  in.absorb(parsed.error());
  return std::nullopt;
}

std::optional<std::vector<std::string>> read_tags(json::reader& in) {
  auto* list = in.member_array("tags");
  if (!list)
    return std::nullopt;
  std::vector<std::string> tags;
  for (const auto& item : *list) {
    if (!item.is_string() || item.get_string().size() > longest_tag
        || tags.size() == most_tags) {
      in.complain("tags", "must be at most 64 strings of at most 128 bytes");
      break;
    }
    tags.emplace_back(item.get_string());
  }
  return tags;
}

void read_code(json::reader& in, tool& t) {
  if (auto code
      = in.text("source_code", {.min = 1, .max = bounds::source_bytes}))
    t.source_code = std::move(*code);
  if (auto text = in.text("source_type", {.max = 32})) {
    auto parsed = parse_language(*text);
    if (parsed)
      t.source_type = *parsed;
    else
      in.complain("source_type", "is not a language of tools",
                  "one of python, typescript, javascript");
  }
  if (auto* o = in.member_object("json_schema"))
    t.json_schema = *o;
  if (auto* o = in.member_object("args_json_schema"))
    t.args_json_schema = *o;
}

void read_requirements(json::reader& in, tool& t) {
  if (auto* v = in.member("pip_requirements"); v && !v->is_null())
    if (auto list
        = taken(in, parse_pip_list(*v, in.pointer_to("pip_requirements"))))
      t.pip_requirements = std::move(*list);
  if (auto* v = in.member("npm_requirements"); v && !v->is_null())
    if (auto list
        = taken(in, parse_npm_list(*v, in.pointer_to("npm_requirements"))))
      t.npm_requirements = std::move(*list);
}

std::string text_member(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->get_string()} : std::string{};
}

/// The schema's name is the tool's, as an agent calls it.
error unnamed() {
  return bad_field("/json_schema", "has no name",
                   "add \"name\", the function to call");
}

/// The name of the last function of a source, by its keyword; "" if none.
std::string last_function(language lang, std::string_view source) {
  const std::string_view keyword
    = lang == language::python ? "def " : "function ";
  const auto is_part = [](char c) {
    return c == '_' || c == '$'
      || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  auto at = source.rfind(keyword);
  while (at != source.npos && at > 0 && is_part(source[at - 1]))
    at = source.rfind(keyword, at - 1); // the end of a longer word
  if (at == source.npos)
    return {};
  source.remove_prefix(at + keyword.size());
  source.remove_prefix(
    std::min(source.find_first_not_of(" \t"), source.size()));
  return {source.begin(), std::ranges::find_if_not(source, is_part)};
}

bool is_only_undescribed(const error& why) {
  return why.code == ec::invalid_request
    && std::ranges::none_of(why.fields, [](const field_error& field) {
           return field.hint == unreadable_source;
         });
}

/// Whose arguments were described by hand, so that nobody need understand what
/// its source says of them.
void describe_by_hand(tool& t) {
  if (t.name.empty())
    t.name = last_function(t.source_type, t.source_code);
  if (t.description.empty())
    t.description = "The " + t.name + " tool";
  json::object schema;
  schema["name"] = t.name;
  schema["description"] = t.description;
  schema["parameters"] = *t.args_json_schema;
  t.json_schema = std::move(schema);
}

result<tool> finished(tool t) {
  auto schema_name = t.json_schema ? text_member(*t.json_schema, "name") : "";
  if (t.name.empty())
    t.name = schema_name;
  if (t.name.empty())
    return unnamed();
  if (t.name.size() > bounds::name_bytes)
    return bad_field("/name", "is longer than 256 bytes");
  if (t.description.empty() && t.json_schema)
    t.description = text_member(*t.json_schema, "description");
  return t;
}

} // namespace

tool read_tool(json::reader& in, tool base, const tool_spelling& spelling) {
  auto t = std::move(base);
  if (spelling.names) {
    if (auto name = in.text("name", {.min = 1, .max = bounds::name_bytes}))
      t.name = std::move(*name);
    if (auto id = in.text("project_id", {.max = bounds::foreign_id_bytes}))
      t.project_id = std::move(*id);
  }
  if (auto text = in.text("description", {.max = longest_description}))
    t.description = std::move(*text);
  read_code(in, t);
  if (auto tags = read_tags(in))
    t.tags = std::move(*tags);
  if (auto n = in.integer("return_char_limit", 1, max_return_char_limit))
    t.return_char_limit = static_cast<std::uint32_t>(*n);
  read_requirements(in, t);
  if (auto yes = in.boolean("default_requires_approval"))
    t.default_requires_approval = *yes;
  if (auto yes = in.boolean("enable_parallel_execution"))
    t.enable_parallel_execution = *yes;
  if (!spelling.metadata.empty())
    if (auto* o = in.member_object(spelling.metadata))
      t.metadata = *o;
  return t;
}

void complete_tool(engine& core, const caller& who, tool value,
                   handler<tool> done) {
  if (value.json_schema) {
    done(finished(std::move(value)));
    return;
  }
  auto source = value.source_code;
  auto function = value.name;
  core.derive_schema(
    who, value.source_type, std::move(source), std::move(function),
    [value = std::move(value), done](result<derived_schema> derived) mutable {
      if (!derived && value.args_json_schema
          && is_only_undescribed(derived.error())) {
        describe_by_hand(value);
        done(finished(std::move(value)));
        return;
      }
      if (!value.args_json_schema)
        derived = with_parameters(std::move(derived));
      if (!derived) {
        done(derived.error());
        return;
      }
      value.json_schema = std::move(derived->schema);
      // Arguments that were described by hand win over derived ones.
      if (value.args_json_schema) {
        (*value.json_schema)["name"] = derived->name;
        (*value.json_schema)["description"] = derived->description;
        (*value.json_schema)["parameters"] = *value.args_json_schema;
      }
      if (value.name.empty())
        value.name = std::move(derived->name);
      if (value.description.empty())
        value.description = std::move(derived->description);
      done(finished(std::move(value)));
    });
}

void refresh_tool(engine& core, const caller& who, tool value,
                  handler<tool> done) {
  auto old = value;
  value.json_schema.reset();
  complete_tool(core, who, std::move(value),
                [old = std::move(old), done](result<tool> full) mutable {
                  done(full ? std::move(full) : finished(std::move(old)));
                });
}

} // namespace troupe::net
