#pragma once

#include "runtime/model/bounds.hpp"
#include "runtime/model/members.hpp"
#include "runtime/model/run.hpp"

namespace troupe {

enum class field_text : std::uint8_t {
  line,      // becomes a name, an argument or a program: no NUL
  bytes,     // any text
  object,    // JSON: an object in a body, its text on a link
  arguments, // the same, with integers of any size
};

/// What there is to know of one field of a run, beside its type.
struct field_rule {
  /// A client may say it in a body. Else it comes from the key, from a header,
  /// or it is ours.
  bool in_body = true;
  field_text form = field_text::line;
  std::string_view on_link = {}; // its name there, where it is another one
  std::size_t longest = 0;       // a text's bytes
  std::int64_t min = 0;          // a number's
  std::int64_t max = 0;
  std::optional<run_kind> only = {}; // has no meaning for another kind
  bool is_program = false;           // says what to run, and so of which kind
};

/// One field of a run: its name in bodies and on links, the member of a
/// `run_request` and of what carries the same on, and the member of the public
/// interface's message.
template <class Member, class Public>
struct run_field {
  constexpr run_field(std::string_view name_, Member of_, field_rule rule_ = {})
      : name{name_}, of{of_}, in_message{of_}, rule{rule_} {}
  constexpr run_field(std::string_view name_, Member of_, Public in_message_,
                      field_rule rule_ = {})
      : name{name_}, of{of_}, in_message{in_message_}, rule{rule_} {}

  std::string_view name;
  Member of;
  Public in_message;
  field_rule rule;
};

template <class Member>
run_field(std::string_view, Member) -> run_field<Member, Member>;
template <class Member>
run_field(std::string_view, Member, field_rule) -> run_field<Member, Member>;
template <class Get, class Other>
run_field(std::string_view, named_member<Get>, named_member<Other>)
  -> run_field<named_member<Get>, named_member<Other>>;
template <class Get, class Other>
run_field(std::string_view, named_member<Get>, named_member<Other>, field_rule)
  -> run_field<named_member<Get>, named_member<Other>>;

/// Every field of a run. What reads bodies, writes and reads links, and
/// translates for the C++ interface, for embedders and for other nodes, goes
/// through it. The order is the order on links, which digests of idempotent
/// requests cover: new ones come last.
inline constexpr std::tuple run_fields{
  run_field{"kind", TROUPE_MEMBER(kind), {.in_body = false}},
  run_field{"id", TROUPE_MEMBER(id), {.in_body = false}},
  run_field{"organization_id", TROUPE_MEMBER(organization), {.in_body = false}},
  run_field{"user_id", TROUPE_MEMBER(user), {.in_body = false}},
  run_field{"tool_id",
            TROUPE_MEMBER(tool),
            {.only = run_kind::tool, .is_program = true}},
  run_field{"tool_name",
            TROUPE_MEMBER(tool_name),
            {.longest = bounds::name_bytes,
             .only = run_kind::tool,
             .is_program = true}},
  run_field{"language", TROUPE_MEMBER(lang), TROUPE_MEMBER(language)},
  run_field{"source",
            TROUPE_MEMBER(source),
            {.longest = bounds::source_bytes,
             .only = run_kind::source,
             .is_program = true}},
  run_field{"function",
            TROUPE_MEMBER(function),
            {.longest = bounds::name_bytes, .only = run_kind::source}},
  run_field{"command",
            TROUPE_MEMBER(command),
            {.longest = bounds::command_bytes,
             .only = run_kind::command,
             .is_program = true}},
  run_field{"argv",
            TROUPE_MEMBER(argv),
            {.only = run_kind::command, .is_program = true}},
  run_field{"stdin",
            TROUPE_MEMBER(stdin_text),
            TROUPE_MEMBER(standard_input),
            {.form = field_text::bytes,
             .longest = bounds::stdin_bytes,
             .only = run_kind::command}},
  // On links JSON stays text: nothing is lost, and nothing parses it there.
  run_field{"args",
            TROUPE_MEMBER(args_json),
            TROUPE_MEMBER(arguments),
            {.form = field_text::arguments, .on_link = "args_json"}},
  run_field{"json_schema",
            TROUPE_MEMBER(json_schema),
            {.form = field_text::object,
             .on_link = "json_schema_json",
             .only = run_kind::source}},
  run_field{"args_json_schema",
            TROUPE_MEMBER(args_json_schema),
            {.form = field_text::object,
             .on_link = "args_json_schema_json",
             .only = run_kind::source}},
  run_field{
    "lenient_arguments", TROUPE_MEMBER(lenient_arguments), {.in_body = false}},
  run_field{"agent_state",
            TROUPE_MEMBER(agent_state_json),
            TROUPE_MEMBER(agent_state),
            {.form = field_text::object, .on_link = "agent_state_json"}},
  run_field{"idempotency_key",
            TROUPE_MEMBER(idempotency_key),
            {.in_body = false, .longest = bounds::idempotency_key_bytes}},
  run_field{"traceparent",
            TROUPE_MEMBER(traceparent),
            {.in_body = false, .longest = bounds::name_bytes}},
  run_field{"env", TROUPE_MEMBER(env), TROUPE_MEMBER(variables)},
  run_field{"agent_env", TROUPE_MEMBER(agent_env)},
  run_field{
    "agent_id", TROUPE_MEMBER(agent_id), {.longest = bounds::foreign_id_bytes}},
  run_field{"project_id",
            TROUPE_MEMBER(project_id),
            {.longest = bounds::foreign_id_bytes}},
  run_field{"pip_requirements", TROUPE_MEMBER(pip_requirements),
            TROUPE_MEMBER(pip)},
  run_field{"npm_requirements", TROUPE_MEMBER(npm_requirements),
            TROUPE_MEMBER(npm)},
  run_field{"return_char_limit",
            TROUPE_MEMBER(return_char_limit),
            {.min = 1, .max = max_return_char_limit}},
  run_field{"limits", TROUPE_MEMBER(limits)},
  run_field{"network", TROUPE_MEMBER(network)},
  run_field{"isolation", TROUPE_MEMBER(isolation)},
  run_field{"backend", TROUPE_MEMBER(backend)},
  run_field{"sandbox_config_id", TROUPE_MEMBER(config)},
  run_field{"idempotent", TROUPE_MEMBER(idempotent)},
  run_field{"priority",
            TROUPE_MEMBER(priority),
            {.min = bounds::lowest_priority, .max = bounds::highest_priority}},
  run_field{"deadline_seconds", TROUPE_MEMBER(deadline)},
  run_field{"labels", TROUPE_MEMBER(labels)},
  run_field{"as_letta", TROUPE_MEMBER(as_letta), {.in_body = false}},
  run_field{"may_be_script", TROUPE_MEMBER(may_be_script), {.in_body = false}},
  run_field{"files", TROUPE_MEMBER(files)},
  run_field{"outputs", TROUPE_MEMBER(outputs)},
};

/// How many of them a struct carries on under the name that a request has.
template <class Struct>
consteval std::size_t run_fields_of() {
  return std::apply(
    [](const auto&... f) {
      return (std::size_t{member_of<decltype(f.of), Struct>} + ...);
    },
    run_fields);
}

// A member without a row is a field that gets lost on some way.
static_assert(member_count<run_request>()
              == std::tuple_size_v<decltype(run_fields)>);
static_assert(run_fields_of<run_request>() == member_count<run_request>());

} // namespace troupe
