#include "runtime/runner/schema_program.hpp"

#include "runtime/engine/schema_deriver.hpp"
#include "runtime/json/json.hpp"
#include "runtime/runner/defaults.hpp"
#include "runtime/runner/frame.hpp"

namespace troupe::script {

namespace {

using frame::part;

std::string member(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  return v != nullptr && v->is_string() ? std::string{v->get_string()} : "";
}

/// As Python and Node call it.
bool is_unreadable(std::string_view name) {
  return name == "SyntaxError" || name == "IndentationError"
    || name == "TabError";
}

error no_answer(std::string_view why) {
  error e;
  e.code = ec::unavailable;
  e.text = "derive schema: " + std::string{why};
  return e;
}

} // namespace

result<derived_schema> parse_schema_answer(std::string_view answer) {
  if (answer.empty())
    return no_answer("the interpreter ended without an answer");
  if (answer.size() > defaults::max_schema_bytes)
    return bad_field("/source_code", "its schema is too large",
                     "send a json_schema");
  auto m
    = frame::decode(frame::kind::answer, answer, defaults::max_schema_bytes);
  if (m.has_error())
    return no_answer(m.error().text);
  auto head = json::parse_object((*m)[part::head]);
  if (head.has_error())
    return no_answer(head.error().text);
  if (member(*head, "status") != "success") {
    const auto* about = head->if_contains("error");
    if (about == nullptr || !about->is_object())
      return no_answer("it failed without a reason");
    const auto& failure = about->get_object();
    auto reason = member(failure, "message");
    if (reason.empty()) // as a MemoryError says nothing
      reason = "reading it ended in " + member(failure, "name");
    return bad_field("/source_code", std::move(reason),
                     is_unreadable(member(failure, "name"))
                       ? std::string{unreadable_source}
                       : std::string{});
  }
  auto schema = json::parse_object((*m)[part::body]);
  if (schema.has_error())
    return no_answer(schema.error().text);
  if (auto unclear = member(*schema, "unclear"); !unclear.empty())
    return derived_schema{
      member(*schema, "name"), member(*schema, "description"), {}, unclear};
  return derived_schema{member(*schema, "name"),
                        member(*schema, "description"),
                        std::move(*schema),
                        {}};
}

} // namespace troupe::script
