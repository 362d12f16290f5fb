#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "runtime/json/json.hpp"

#include <iostream>

namespace troupe {

namespace {

using verb = api_client::verb;

/// Has the form that clients look at, and is no key: where this server asks for
/// one it is refused.
constexpr std::string_view no_key
  = "e2b_0000000000000000000000000000000000000000";

struct env_words {
  bool as_json = false;
};

/// The server's own word on where it is, the best address first.
result<std::string> address_of(api_client& engine) {
  auto served = engine.call(verb::get, "/compat/e2b");
  if (!served)
    return std::move(served).error().within(
      "E2B's API (compat.e2b turns it on)");
  const auto* urls
    = served->is_object() ? served->get_object().if_contains("urls") : nullptr;
  if (urls && urls->is_array() && !urls->get_array().empty())
    return std::string{urls->get_array().front().as_string()};
  return engine.where() + "/compat/e2b";
}

result<int> print_env(const env_words& said, api_client& engine) {
  auto address = address_of(engine);
  if (!address)
    return address.error();
  const std::pair<const char*, std::string> all[]
    = {{"E2B_API_URL", *address},
       {"E2B_SANDBOX_URL", *address},
       {"E2B_API_KEY", std::string{no_key}}};
  if (said.as_json) {
    json::object o;
    for (const auto& [name, value] : all)
      o[name] = value;
    std::cout << json::to_text(o) << "\n";
    return int{exit_ok};
  }
  for (const auto& [name, value] : all)
    std::cout << "export " << name << "=" << value << "\n";
  std::cerr << "a server that requires keys wants one of its own as "
               "E2B_API_KEY: troupe key create --format e2b\n";
  return int{exit_ok};
}

} // namespace

void add_e2b_command(CLI::App& app, invocation& call) {
  auto* e2b = app.add_subcommand("e2b", "Use clients of E2B with this engine");
  add_session_command(
    e2b, call, "env",
    "Print what points clients of E2B at this engine, for a shell", print_env);
}

} // namespace troupe
