#include "runtime/sandboxes/sandbox_for_run.hpp"

namespace troupe {

sandbox_request sandbox_for(const prepared_run& run) {
  sandbox_request wanted;
  wanted.organization = run.organization;
  wanted.run = run.id;
  wanted.config = run.config;
  wanted.kind = run.kind;
  wanted.lang = run.lang;
  wanted.pip_requirements = run.pip_requirements;
  wanted.npm_requirements = run.npm_requirements;
  wanted.limits = run.limits;
  wanted.network = run.network;
  wanted.env = run.env;
  return wanted;
}

bool wants_reuse(const prepared_run& run) {
  auto* said = config_of(run).config.if_contains("reuse");
  return said && said->is_bool() && said->as_bool()
    && run.isolation != isolation_level::strict;
}

process_request process_for(const prepared_run& run) {
  process_request what;
  what.argv = run.argv;
  if (what.argv.empty())
    what.argv = {"/bin/sh", "-c", run.command};
  what.input = run.stdin_text;
  return what;
}

} // namespace troupe
