// From what is asked for to what is made, or to why it is refused.
#include "actors/sandbox/sandbox_controller.hpp"
#include "runtime/model/limit_fields.hpp"
#include "runtime/model/sandbox_memory.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::string names_of(const std::vector<sandbox_place>& places) {
  std::string all;
  for (const auto& each : places)
    all.append(all.empty() ? "" : ", ").append(to_string(each.name));
  return all;
}

sandbox_error unsupported(const sandbox_place& at, const std::string& what,
                          const std::string& instead) {
  return {sandbox_problem::unsupported_here, ec::invalid_request,
          std::string{to_string(at.name)} + " " + what + "; " + instead};
}

sandbox_result<std::size_t> choose_place(const sandbox_spec& spec,
                                         const sandbox_options& options) {
  if (!spec.place)
    return std::size_t{0};
  const auto found
    = std::ranges::find(options.places, *spec.place, &sandbox_place::name);
  if (found == options.places.end())
    return sandbox_error{bad_field("/place", "has no room for sandboxes here",
                                   "one of " + names_of(options.places))};
  return static_cast<std::size_t>(found - options.places.begin());
}

} // namespace

std::optional<sandbox_error> cannot_do(timeout_action how,
                                       const sandbox_place& at) {
  const bool pauses = at.provider->capabilities().pause;
  if (how == timeout_action::remove || (how == timeout_action::pause && pauses))
    return std::nullopt;
  return unsupported(at, "cannot " + std::string{to_string(how)} + " a sandbox",
                     pauses ? "say \"pause\" or \"delete\"" : "say \"delete\"");
}

namespace {

/// What no place of this engine can do yet is refused before anything exists.
std::optional<sandbox_error> refuse(const sandbox_spec& spec,
                                    const sandbox_options& options,
                                    const sandbox_place& at) {
  const auto kind = at.name.kind();
  for (const auto action : {spec.on_timeout, spec.on_idle})
    if (auto why = cannot_do(action, at))
      return why;
  if (!spec.template_name.empty() && kind != backend_kind::e2b
      && kind != backend_kind::daytona)
    return unsupported(at, "knows no templates", "leave 'template' out");
  // A place makes what it makes: a stronger wall cannot be asked of it.
  if (spec.isolation
      && strictness(*spec.isolation) > strictness(options.isolation))
    return unsupported(at,
                       "makes sandboxes of isolation "
                         + std::string{to_string(options.isolation)},
                       "ask for that, or set local.isolation");
  return std::nullopt;
}

/// More than an operator grants is a mistake: nothing is cut in silence.
std::optional<sandbox_error> above_ceiling(const limit_overrides& said,
                                           const limits& ceiling) {
  std::optional<sandbox_error> first;
  for_each_row(limit_fields, [&](const auto& f) {
    if (const auto& wanted = f.of(said);
        wanted && *wanted > f.of(ceiling) && !first)
      first = sandbox_error{
        bad_field("/resources/" + std::string{f.name},
                  "is more than limits.ceiling-* grants",
                  "ask for less, or ask the operator to raise it")};
  });
  return first;
}

/// Files of a sandbox on this machine lie in its memory: more of them than that
/// holds cannot be granted.
std::optional<sandbox_error> fit_files(const sandbox_place& at,
                                       const limit_overrides& said,
                                       limits& granted) {
  if (at.name.kind() != backend_kind::local)
    return std::nullopt;
  const auto most = most_sandbox_files(granted.memory_bytes);
  if (said.disk_bytes && granted.disk_bytes > most)
    return sandbox_error{
      bad_field("/resources/disk_bytes",
                "is more than three quarters of memory_bytes, where files lie",
                "ask for more memory, or for " + std::to_string(most)
                  + " bytes at most")};
  granted.disk_bytes = std::min(granted.disk_bytes, most);
  return std::nullopt;
}

} // namespace

sandbox_result<sandbox_record> record_for(const sandbox_spec& spec,
                                          const sandbox_options& options,
                                          std::size_t& place) {
  auto chosen = choose_place(spec, options);
  if (!chosen)
    return chosen.error();
  place = *chosen;
  const auto& at = options.places[place];
  if (auto why = refuse(spec, options, at))
    return std::move(*why);
  if (auto why = above_ceiling(spec.resources, options.ceiling))
    return std::move(*why);
  const auto timeout = spec.timeout.value_or(options.rules.timeout);
  if (timeout > options.rules.max_life)
    return sandbox_error{bad_field(
      "/timeout",
      "is more than sandbox.max-life, "
        + std::to_string(options.rules.max_life.count() / 1'000) + " seconds",
      "ask for less, and renew")};
  sandbox_record r;
  r.id = sandbox_id::make();
  r.name = spec.name;
  r.metadata = spec.metadata;
  r.place = at.name;
  r.template_name = spec.template_name;
  r.timeout = timeout;
  r.on_timeout = spec.on_timeout;
  r.idle_timeout = spec.idle_timeout.value_or(spec.session.empty()
                                                ? std::chrono::milliseconds{0}
                                                : options.rules.session_idle);
  r.on_idle = spec.on_idle;
  r.auto_resume = spec.auto_resume;
  r.session = spec.session;
  r.isolation = options.isolation;
  r.resources = apply(options.standard, spec.resources, options.ceiling);
  if (auto why = fit_files(at, spec.resources, r.resources))
    return std::move(*why);
  r.network = spec.network ? strictest(*spec.network, options.network)
                           : at.network.value_or(options.network);
  if (spec.git && r.network.mode == network_mode::off
      && !spec.git->url.starts_with("file:"))
    return sandbox_error{
      bad_field("/git", "takes a network, which this sandbox has not",
                "send a 'network' that names the host")};
  return r;
}

} // namespace troupe
