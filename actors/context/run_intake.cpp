#include "actors/context/run_intake.hpp"

#include "actors/context/engine_options.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

#include <functional>

namespace troupe {

namespace {

constexpr std::uint32_t small_organization_runs
  = 16; // under way, of one organization

error refused(run_services& services, ec code, const char* why) {
  engine_metrics::add(services.metrics.refused);
  return {code, why, {}, std::chrono::milliseconds{1'000}};
}

} // namespace

bool is_light(const run_request& request) {
  auto bytes = request.args_json.size();
  for (const auto& file : request.files)
    bytes += file.content.size();
  return bytes <= inline_arguments;
}

run_intake::run_intake(const engine_options& options)
    : run_services{options}, most_pending{options.pending}, events{
                                                              options.events} {}

result<accepted_run> accept_run(run_intake& intake, caller&& who,
                                run_request&& request) {
  engine_metrics::add(intake.metrics.submitted);
  if (intake.draining)
    return refused(intake, ec::unavailable,
                   "the engine is stopping; try another node");
  if (intake.pending.fetch_add(1) >= intake.most_pending) {
    intake.pending.fetch_sub(1);
    return refused(intake, ec::exhausted, "too many requests are pending");
  }
  if (!request.id)
    request.id = run_id::make();
  request.organization = who.organization;
  request.user = who.user;
  auto run = make_recycled<active_run>(
    std::move(who), make_recycled<const run_request>(std::move(request)),
    intake.events);
  run->created_at = now();
  run->began = intake.now();
  if (!intake.runs.add(run)) {
    intake.pending.fetch_sub(1);
    return error{ec::conflict, "there is a run " + run->id.str() + " already"};
  }
  accepted_run taken{std::move(run)};
  if (intake.in_flight.enter(taken.run->who.organization)
      <= small_organization_runs)
    taken.priority = caf::message_priority::high;
  return taken;
}

void release_run(run_intake& intake, const active_run& run) {
  intake.pending.fetch_sub(1);
  intake.in_flight.leave(run.who.organization);
}

result<dispatcher_actor> choose_dispatcher(const run_services& services,
                                           active_run& run) {
  auto routes = services.routes.load();
  if (!routes)
    return error{ec::unavailable, "the engine has stopped"};
  const auto& line = routes->dispatchers;
  // Requests with one key meet at one dispatcher, which knows what it runs.
  const auto& key = run.idempotency_key;
  const auto start = key.empty() ? run.id_hash : std::hash<std::string>{}(key);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto index = (start + i) % line.size();
    if (line[index]) {
      run.owner = static_cast<std::uint32_t>(index);
      return line[index];
    }
  }
  return error{ec::unavailable,
               "the dispatchers are restarting",
               {},
               std::chrono::milliseconds{1'000}};
}

} // namespace troupe
