#include "net/api/tool_body.hpp"
#include "net/compat/letta/letta_json.hpp"
#include "net/compat/letta/routes.hpp"
#include "runtime/engine/schema_deriver.hpp"
#include "runtime/model/bounds.hpp"

namespace troupe::net::letta {

namespace {

const json::object* object_in(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

/// The first parameter that a model would see without a word about it.
std::optional<error> undescribed(std::string_view function,
                                 const json::object& schema) {
  auto* parameters = object_in(schema, "parameters");
  auto* all = parameters ? object_in(*parameters, "properties") : nullptr;
  if (!all)
    return std::nullopt;
  for (const auto& [name, one] : *all)
    if (auto* property = one.if_object();
        property && !property->contains("description"))
      return bad_field("/source_code",
                       "Parameter '" + std::string{name} + "' in function '"
                         + std::string{function}
                         + "' lacks a description in the docstring",
                       "describe it there");
  return std::nullopt;
}

/// POST /tools/generate-schema
void generate(engine& core, const letta_options&, const exchange_ptr& ex) {
  auto body = letta::body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto code = in.required_text("code", {.min = 1, .max = bounds::source_bytes});
  auto type = in.one_of("source_type", {"python", "typescript"});
  if (auto bad = in.finish()) {
    fail_validation(*ex, *bad);
    return;
  }
  auto lang = type == "typescript" ? language::typescript : language::python;
  core.derive_schema(ex->who(), lang, std::move(code), {},
                     [ex, lang](result<derived_schema> derived) {
                       auto done = with_parameters(std::move(derived));
                       if (!done)
                         return fail_engine(*ex, done.error());
                       auto bad = lang == language::python
                         ? undescribed(done->name, done->schema)
                         : std::nullopt;
                       if (bad)
                         fail_engine(*ex, *bad);
                       else
                         ex->answer_json(json::to_text(done->schema));
                     });
}

} // namespace

void describe_tool(engine& core, const caller& who, tool value,
                   handler<tool> done) {
  auto is_read = value.source_type == language::python && !value.json_schema
    && !value.args_json_schema;
  complete_tool(core, who, std::move(value),
                [is_read, done = std::move(done)](result<tool> full) {
                  if (is_read && full && full->json_schema)
                    if (auto bad = undescribed(full->name, *full->json_schema))
                      return done(std::move(*bad));
                  done(std::move(full));
                });
}

void add_schemas(doors& to, engine& core) {
  to.add(method::post, "/tools/generate-schema", core, generate, scope::config);
}

} // namespace troupe::net::letta
