#pragma once

#include "net/compat/e2b/known_sandboxes.hpp"
#include "net/compat/e2b/wire/tokens.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/sandbox.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Sandboxes as E2B's clients write and read them.
namespace troupe::net::e2b_facade {

/// What a client wants made.
struct wanted_sandbox {
  sandbox_spec spec;
  std::string template_name; // as it was said, in lower case
  std::optional<bool> internet;
};

/// The bodies of POST /sandboxes and /v2/sandboxes differ in the default of
/// the timeout only.
result<wanted_sandbox> parse_wanted(const json::object& body,
                                    std::chrono::seconds usual_timeout);

/// Whether the name is that of a template that every server has.
bool is_standard_template(std::string_view name);
/// Trimmed, in lower case, without ":default".
std::string template_reference(std::string_view text);

/// "running" or "paused"; "": clients do not see it.
std::string_view state_of(const sandbox_record& r);
timestamp started_at(const sandbox_record& r, const known_sandbox& known);

/// Its ports take a token; noted with the sandbox, whose record says so as long
/// as it is there.
bool has_private_ports(const sandbox_record& r);

/// What create, connect and fork answer.
std::string created_json(const sandbox_record& r, const known_sandbox& known,
                         const token_maker& tokens);
/// An entry of a list.
std::string listed_json(const sandbox_record& r, const known_sandbox& known);
/// All that is known of one.
std::string detailed_json(const sandbox_record& r, const known_sandbox& known,
                          const token_maker& tokens);

} // namespace troupe::net::e2b_facade
