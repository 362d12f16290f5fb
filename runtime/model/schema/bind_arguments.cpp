#include "runtime/model/schema/bind_arguments.hpp"

#include "runtime/json/big_integers.hpp"
#include "runtime/model/schema/checker.hpp"

namespace troupe {

namespace {

/// The schema of the arguments: a tool's schema has it in `parameters`.
const json::object& parameters_of(const json::object& schema) {
  if (auto* inside = schema.if_contains("parameters"); inside != nullptr
      && inside->is_object() && !schema.contains("properties"))
    return inside->get_object();
  return schema;
}

error refusal(std::vector<field_error> complaints) {
  auto& first = complaints.front();
  auto e = bad_field(first.pointer, first.reason, first.hint);
  if (complaints.size() > 1)
    e.text += " (and " + std::to_string(complaints.size() - 1) + " more)";
  e.fields = std::move(complaints);
  return e;
}

std::vector<std::string> names_of_nulls(const json::object& args) {
  std::vector<std::string> names;
  for (const auto& m : args)
    if (m.value().is_null())
      names.emplace_back(m.key());
  return names;
}

} // namespace

result<json::object> bind_arguments(json::object args,
                                    const json::object& schema,
                                    const bind_options& options) {
  auto& parameters = parameters_of(schema);
  schema::checker checker{schema, parameters, options};
  json::value v(std::move(args)); // braces would make an array
  auto nulls = names_of_nulls(v.get_object());
  if (options.lenient)
    checker.bend(v.get_object(), parameters, options.pointer);
  else
    checker.check(v, parameters, options.pointer, {true, false});
  if (checker.failed())
    return refusal(std::move(checker.complaints));
  if (options.dropped != nullptr) {
    std::erase_if(nulls, [&](auto& n) { return v.get_object().contains(n); });
    *options.dropped = std::move(nulls);
  }
  return std::move(v.get_object());
}

result<std::string> bind_arguments(std::string_view args_json,
                                   std::string_view schema_json,
                                   const bind_options& options) {
  if (schema_json.empty()) { // nothing to compare with, so no tree is built
    if (auto ok = json::check_large_object(args_json); !ok)
      return bad_field(options.pointer, ok.error().text);
    return std::string{args_json};
  }
  auto args = json::parse_large_object(args_json, json::anywhere);
  if (!args)
    return bad_field(options.pointer, args.error().text);
  auto schema = json::parse_object(schema_json);
  if (!schema)
    return schema.error().within("the tool's schema");
  auto bound = bind_arguments(std::move(*args), *schema, options);
  if (!bound)
    return bound.error();
  return json::exact_text(*bound);
}

} // namespace troupe
