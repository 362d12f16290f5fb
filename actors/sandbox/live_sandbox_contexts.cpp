// The contexts of a sandbox.
#include "actors/sandbox/live_sandbox.hpp"

#include <algorithm>

namespace troupe {

namespace {

sandbox_error no_such_context(const std::string& id) {
  return sandbox_error{fail(ec::not_found, "there is no context " + id)};
}

} // namespace

sandbox_result<live_context_ptr>
live_sandbox::make_context(context_spec what, bool is_default,
                           saved_context_ptr from) {
  const auto& rules = services->options.rules;
  if (!place().provider->capabilities().contexts)
    return sandbox_error{sandbox_problem::unsupported_here, ec::invalid_request,
                         std::string{to_string(place().name)}
                           + " has no contexts; use exec"};
  if (contexts.size() >= rules.contexts)
    return sandbox_error{sandbox_problem::quota, ec::exhausted,
                         "the sandbox has " + std::to_string(contexts.size())
                           + " contexts already, as many as sandbox.contexts "
                             "allows; delete one"};
  live_context::environment_of around;
  around.place = place();
  around.box = box;
  around.rules = rules;
  around.now = [services = services] { return services->now(); };
  around.changed
    = [home = caf::actor_cast<caf::weak_actor_ptr>(sandbox_actor{self})] {
        place_event news;
        news.what = place_event::kind::context;
        if (auto strong = home.lock())
          caf::anon_send(caf::actor_cast<sandbox_actor>(strong), event_v,
                         std::move(news));
      };
  auto made = from
    ? std::make_shared<live_context>(std::move(from), around)
    : std::make_shared<live_context>(std::move(what), is_default, around);
  contexts.emplace(made->id(), made);
  made->begin();
  return made;
}

context_answer live_sandbox::begin(const context_order& order) {
  if (auto why = why_not_running())
    return std::move(*why);
  auto made = make_context(order.what ? *order.what : context_spec{}, false,
                           order.from);
  if (!made)
    return made.error();
  return sandbox_context_ptr{std::move(*made)};
}

cell_answer live_sandbox::begin(const cell_order& order) {
  if (auto why = why_not_running())
    return std::move(*why);
  const auto& where = order.where;
  auto found = where.id.empty()
    ? std::ranges::find_if(contexts,
                           [&](const auto& item) {
                             const auto r = item.second->record();
                             return r.is_default
                               && r.language == where.language;
                           })
    : contexts.find(where.id);
  live_context_ptr context;
  if (found != contexts.end()) {
    context = found->second;
  } else if (!where.id.empty()) {
    return no_such_context(where.id);
  } else {
    context_spec what;
    what.language = where.language;
    what.auto_restart = true; // its callers need not know its name
    auto made = make_context(std::move(what), true);
    if (!made)
      return made.error();
    context = std::move(*made);
  }
  auto cell = context->enqueue(*order.what);
  if (!cell)
    return cell.error();
  return std::move(*cell);
}

context_answer live_sandbox::find(const context_reference& which) const {
  auto i = contexts.find(which.id);
  if (i == contexts.end())
    return no_such_context(which.id);
  return sandbox_context_ptr{i->second};
}

contexts_answer live_sandbox::list_contexts() const {
  auto all = std::make_shared<std::vector<sandbox_context_ptr>>();
  for (const auto& [id, context] : contexts)
    all->push_back(context);
  return std::shared_ptr<const std::vector<sandbox_context_ptr>>{all};
}

context_answer live_sandbox::remove(const context_reference& which) {
  auto i = contexts.find(which.id);
  if (i == contexts.end())
    return no_such_context(which.id);
  auto context = i->second;
  contexts.erase(i);
  context->close("the context was deleted");
  publish();
  return sandbox_context_ptr{std::move(context)};
}

/// One that never was is not kept.
void live_sandbox::context_changed() {
  std::erase_if(contexts,
                [](const auto& item) { return item.second->never_began(); });
  publish();
}

void live_sandbox::contexts_due(clock::time_point now) {
  for (const auto& [id, context] : contexts)
    if (context->due() <= now)
      context->look();
}

void live_sandbox::end_contexts(const std::string& why) {
  for (const auto& [id, context] : std::exchange(contexts, {}))
    context->close(why);
}

} // namespace troupe
