#include "actors/dispatch/backend_selection.hpp"

#include <boost/container/static_vector.hpp>

#include <algorithm>

namespace troupe {

namespace {

std::string name(backend_name backend) {
  return std::string{to_string(backend)};
}

error not_configured(backend_name backend) {
  return {ec::unavailable,
          "backend " + name(backend)
            + " is not configured; configure it or leave the "
              "choice to the engine"};
}

/// The run's or the tool's, E2B and local: never more.
template <class T>
using few = boost::container::static_vector<T, 3>;

/// The kinds in the order of the rule, whether they exist or not.
few<std::pair<backend_name, std::string_view>>
in_order(const backend_preference& wish) {
  few<std::pair<backend_name, std::string_view>> order;
  if (wish.of_run) {
    order.emplace_back(*wish.of_run, "the run names it");
    return order;
  }
  auto add = [&](backend_name backend, std::string_view why) {
    auto same = [&](const auto& x) { return x.first == backend; };
    if (std::none_of(order.begin(), order.end(), same))
      order.emplace_back(backend, why);
  };
  if (wish.of_tool)
    add(*wish.of_tool, "the tool asks for it");
  // A tool that asks for this machine does not want to leave it.
  if (wish.of_tool != backend_kind::local)
    add(wish.standard, "the default when it is configured");
  add(backend_kind::local, "the last resort");
  return order;
}

int sickness(const backend_view& view) {
  if (!view.not_ready.empty())
    return 3;
  if (!view.is_sick())
    return 0;
  return view.circuit == circuit_breaker::state::closed ? 1 : 2;
}

/// "": it may have the run.
std::string trouble_of(const backend_view& view) {
  return view.not_ready.empty() ? why_passed_over(view)
                                : "not ready: " + view.not_ready;
}

struct candidate {
  backend_name backend;
  int sick;
  std::string trouble;
};

/// The sick ones behind the others, and who was passed over by that.
void put_sick_last(few<candidate>& found, backend_plan& plan) {
  auto sick
    = [](const candidate& a, const candidate& b) { return a.sick < b.sick; };
  for (auto i = found.begin(); i != found.end(); ++i)
    if (std::any_of(i + 1, found.end(),
                    [&](const candidate& later) { return sick(later, *i); }))
      plan.passed_over.push_back({i->backend, i->trouble});
  std::stable_sort(found.begin(), found.end(), sick);
}

error nobody_left(const backend_preference& wish, const backend_plan& plan,
                  int floor) {
  if (!plan.kept_away.empty()) {
    error why{ec::unavailable, plan.kept_away};
    if (!plan.passed_over.empty())
      why.text = name(plan.passed_over.front().backend) + ": "
        + plan.passed_over.front().reason + "; " + why.text;
    else
      why.text = "backend " + name(wish.of_tool.value_or(wish.standard))
        + " is not configured; " + why.text;
    return why;
  }
  if (floor > 0)
    return {
      ec::unavailable,
      "no configured backend isolates runs as strongly as the sandbox config "
      "requires; configure its backend, or set its allow_weaker_fallback"};
  return {ec::unavailable,
          "no backend can take this run; configure one "
          "(local, e2b, modal, daytona or aio)"};
}

} // namespace

result<backend_plan> plan_backends(const backend_preference& wish,
                                   const backend_viewer& look,
                                   bool with_reasons) {
  backend_plan plan;
  few<candidate> found;
  int floor = 0;        // of isolation, as the better choices' configs want it
  std::string provider; // that the run is for, and must not be kept from
  auto say = [&](backend_name backend, const auto&... parts) {
    if (with_reasons)
      plan.reasons.push_back((name(backend) + ": " + ... + std::string{parts}));
  };
  for (auto& [backend, why] : in_order(wish)) {
    auto view = look(backend);
    const auto rank = isolation_rank(backend, wish.local_isolation);
    const bool too_weak = rank < floor;
    if (wish.no_weaker[static_cast<std::size_t>(backend.kind())])
      floor = std::max(floor, rank);
    if (wish.fail_closed && !wish.of_run && facts_of(backend.kind()).is_provider
        && provider.empty())
      provider = name(backend);
    if (!view.configured) {
      if (wish.of_run)
        return not_configured(backend);
      say(backend, "not configured");
      if (backend == wish.of_tool)
        plan.passed_over.push_back({backend, "not configured"});
      continue;
    }
    if (!provider.empty() && !facts_of(backend.kind()).is_provider) {
      plan.kept_away = "dispatch.fail-closed keeps runs for " + provider
        + " from " + name(backend);
      say(backend, plan.kept_away);
      continue;
    }
    if (too_weak) {
      say(backend, "weaker isolation than the config permits");
      continue;
    }
    auto trouble = trouble_of(view);
    say(backend, why, trouble.empty() ? "" : ", but ", trouble);
    found.push_back({backend, sickness(view), std::move(trouble)});
  }
  if (found.empty())
    return nobody_left(wish, plan, floor);
  put_sick_last(found, plan);
  plan.candidates.reserve(found.size());
  for (const auto& each : found)
    plan.candidates.push_back(each.backend);
  return plan;
}

int isolation_rank(backend_name backend, isolation_level local) {
  const auto& facts = facts_of(backend.kind());
  return facts.is_provider ? facts.separation : strictness(local);
}

bool may_fail_over(const error& why, bool may_have_started, bool idempotent) {
  if (may_have_started && !idempotent)
    return false;
  switch (why.code) {
  case ec::unavailable:
  case ec::exhausted:
  case ec::no_space:
  case ec::internal:
  case ec::timeout:
  case ec::denied: // the provider refuses our credentials, not the caller's
    return true;
  case ec::invalid_request: // would be as wrong elsewhere
  case ec::not_found:
  case ec::conflict:
    return false;
  }
  return false;
}

} // namespace troupe
