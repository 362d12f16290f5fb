#include "app/cli/commands.hpp"
#include "net/api/api.hpp"

#include <iostream>

namespace troupe {

void add_openapi_command(CLI::App& app, invocation& call) {
  auto cmd = app.add_subcommand(
    "openapi", "Print the OpenAPI document of the HTTP interface");
  call.on(cmd, [] {
    std::cout << net::openapi_document() << "\n";
    return int{exit_ok};
  });
}

} // namespace troupe
