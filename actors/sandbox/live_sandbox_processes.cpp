// The processes of a sandbox, and the way in to its files.
#include "actors/sandbox/live_sandbox.hpp"
#include "actors/sandbox/place_call.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::chrono::seconds longest_begin{60};

sandbox_error no_such_process(const std::string& id) {
  return sandbox_error{fail(ec::not_found, "there is no process " + id)};
}

struct process_start {
  sandbox_place place;
  std::shared_ptr<const sandbox_handle> box;
  live_process_ptr process;
  process_spec what;
  std::function<void(std::shared_ptr<const error>)> begun;
};

process_request request_of(const process_spec& what) {
  process_request wanted;
  wanted.argv = what.program();
  wanted.input = what.input;
  wanted.cwd = what.cwd;
  wanted.terminal = what.terminal;
  for (const auto& [name, value] : what.env)
    wanted.env[name] = value.reveal();
  return wanted;
}

/// With a process of its own at the place.
boost::asio::awaitable<bool> begin_beside(process_start with) {
  call_scope scope{std::chrono::steady_clock::now() + longest_begin, nullptr};
  auto wanted = request_of(with.what);
  auto events = with.process->events();
  auto started = co_await with.place.provider->start(
    *with.box, std::move(wanted), with.what.open_input, std::move(events),
    std::move(scope));
  if (started) {
    with.process->begun(std::move(*started));
    with.begun({});
  } else {
    with.begun(std::make_shared<const error>(started.error()));
    with.process->is_lost(process_reason::lost); // some may read it already
  }
  co_return started.has_value();
}

/// Where a place has only calls that wait for the end: such a call goes on in
/// the background, and to kill the process is to give the call up.
boost::asio::awaitable<bool> begin_as_call(process_start with,
                                           std::chrono::milliseconds longest) {
  auto kill = std::make_shared<cancellation>();
  call_scope scope{std::chrono::steady_clock::now() + longest, kill};
  with.process->begun_as_call(kill);
  with.begun({});
  auto events = with.process->events();
  auto wanted = request_of(with.what);
  auto done = co_await with.place.provider->execute(
    *with.box, std::move(wanted), events.output, std::move(scope));
  if (kill->cancelled()) {
    process_end end;
    end.signaled = true;
    end.signal = 9;
    with.process->ended(std::move(end));
  } else {
    with.process->ended(std::move(done.end));
  }
  co_return true;
}

} // namespace

caf::result<process_answer> live_sandbox::begin(const start_order& order) {
  if (has_to_wait())
    return after_resuming<process_answer>(start_v, order);
  if (auto why = why_not_running())
    return process_answer{std::move(*why)};
  const auto& rules = services->options.rules;
  const auto running = std::ranges::count_if(processes, [](const auto& item) {
    return !item.second.process->is_over();
  });
  if (static_cast<std::uint32_t>(running) >= rules.processes)
    return process_answer{sandbox_error{
      sandbox_problem::quota, ec::exhausted,
      "the sandbox runs " + std::to_string(running)
        + " processes already, as many as sandbox.processes allows; end one",
      std::chrono::seconds{1}}};
  const auto can = place().provider->capabilities();
  const bool beside = can.processes;
  if (!can.terminals && order.what->terminal)
    return process_answer{sandbox_error{
      sandbox_problem::unsupported_here, ec::invalid_request,
      std::string{to_string(place().name)}
        + " has no terminals for processes; leave out 'terminal', or create "
          "the sandbox at a place that has them (local)"}};
  if (!beside && order.what->open_input)
    return process_answer{sandbox_error{
      sandbox_problem::unsupported_here, ec::invalid_request,
      std::string{to_string(place().name)}
        + " cannot keep the standard input of a process open; send all of it "
          "as 'stdin'"}};
  auto process
    = std::make_shared<live_process>(*order.what, rules, place().executor);
  touch();
  process->when_used([activity = life->activity(), services = services] {
    activity->touch(services->now());
  });
  auto& entry = processes[process->id()];
  entry.process = process;
  if (order.what->timeout.count() > 0)
    entry.end = services->now() + order.what->timeout;
  auto home = sandbox_actor{self};
  auto tell = [home, id = process->id()](place_event::kind what,
                                         std::shared_ptr<const error> failure) {
    place_event news;
    news.what = what;
    news.process = id;
    news.failure = std::move(failure);
    caf::anon_send(home, event_v, std::move(news));
  };
  process->when_ended([tell] { tell(place_event::kind::ended, {}); });
  process_start with{place(), box, process, *order.what,
                     [tell](std::shared_ptr<const error> failure) {
                       tell(place_event::kind::begun, std::move(failure));
                     }};
  auto work = [with, beside, longest = rules.max_life] {
    return beside ? begin_beside(with) : begin_as_call(with, longest);
  };
  call_place<bool>(place().executor, std::move(work),
                   [tell, process](std::optional<bool> came) {
                     if (came)
                       return;
                     tell(place_event::kind::begun,
                          std::make_shared<const error>(place_threw()));
                     process->is_lost(process_reason::lost);
                   });
  engine_metrics::add(services->meters.processes);
  entry.begun.push_back(self->make_response_promise<process_answer>());
  auto answer = entry.begun.back();
  tell_due();
  return answer;
}

void live_sandbox::process_begun(const place_event& news) {
  auto i = processes.find(news.process);
  if (i == processes.end())
    return;
  auto waiting = std::exchange(i->second.begun, {});
  auto process = i->second.process;
  if (news.failure)
    processes.erase(i);
  else
    events->tell(sandbox_event::kind::process_started, news.process);
  for (auto& each : waiting)
    if (!news.failure)
      each.deliver(process_answer{sandbox_program_ptr{process}});
    else if (news.failure->code == ec::unavailable)
      each.deliver(process_answer{
        sandbox_error{sandbox_problem::place_unavailable, ec::unavailable,
                      news.failure->text, std::chrono::seconds{1}}});
    else
      each.deliver(process_answer{sandbox_error{*news.failure}});
}

void live_sandbox::process_ended(const std::string& id) {
  auto i = processes.find(id);
  if (i == processes.end())
    return;
  i->second.end = clock::time_point::max();
  i->second.ended_at = services->now();
  touch();
  events->tell(sandbox_event::kind::process_ended, id,
               std::string{to_string(i->second.process->record().reason)});
  forget_old_processes();
  tell_due();
}

/// The newest that have ended stay for a while.
void live_sandbox::forget_old_processes() {
  const auto& rules = services->options.rules;
  for (;;) {
    std::size_t ended = 0, bytes = 0;
    auto oldest = processes.end();
    for (auto i = processes.begin(); i != processes.end(); ++i) {
      if (i->second.ended_at == clock::time_point::max())
        continue;
      ++ended;
      bytes += i->second.process->kept_bytes();
      if (oldest == processes.end()
          || i->second.ended_at < oldest->second.ended_at)
        oldest = i;
    }
    if (ended == 0
        || (ended <= rules.ended_processes && bytes <= rules.ended_windows
            && services->now() - oldest->second.ended_at < rules.kept))
      return;
    processes.erase(oldest);
  }
}

process_answer live_sandbox::find(const process_reference& which) const {
  auto i = processes.find(which.id);
  if (i == processes.end())
    return no_such_process(which.id);
  return sandbox_program_ptr{i->second.process};
}

processes_answer live_sandbox::list() const {
  auto all = std::make_shared<std::vector<sandbox_program_ptr>>();
  for (const auto& [id, entry] : processes)
    all->push_back(entry.process);
  return std::shared_ptr<const std::vector<sandbox_program_ptr>>{all};
}

process_answer live_sandbox::remove(const process_reference& which) {
  auto i = processes.find(which.id);
  if (i == processes.end())
    return no_such_process(which.id);
  auto process = i->second.process;
  process->end_because(process_reason::killed);
  auto waiting = std::move(i->second.begun);
  processes.erase(i);
  for (auto& each : waiting)
    each.deliver(process_answer{sandbox_program_ptr{process}});
  tell_due();
  return sandbox_program_ptr{process};
}

caf::result<access_answer> live_sandbox::enter() {
  if (has_to_wait())
    return after_resuming<access_answer>(access_v);
  if (auto why = why_not_running())
    return access_answer{std::move(*why)};
  touch();
  return access_answer{sandbox_access{&place(), box}};
}

bool live_sandbox::has_bounded_process() const {
  return std::ranges::any_of(processes, [](const auto& item) {
    return item.second.end != clock::time_point::max();
  });
}

void live_sandbox::processes_due(clock::time_point now) {
  const bool still
    = state() == sandbox_state::paused || state() == sandbox_state::resuming;
  for (auto& [id, entry] : processes)
    if (entry.end <= now && !still) {
      entry.end = clock::time_point::max();
      entry.process->end_because(process_reason::timeout);
    }
  forget_old_processes();
  tell_due();
}

void live_sandbox::end_processes(process_reason why) {
  for (auto& [id, entry] : processes) {
    entry.end = clock::time_point::max();
    entry.process->end_because(why);
    for (auto& each : std::exchange(entry.begun, {}))
      each.deliver(process_answer{ended()});
  }
}

live_sandbox::clock::time_point live_sandbox::due() const {
  auto first = life->due();
  const bool still
    = state() == sandbox_state::paused || state() == sandbox_state::resuming;
  if (!still)
    for (const auto& [id, context] : contexts)
      first = std::min(first, context->due());
  for (const auto& [id, entry] : processes) {
    if (!still)
      first = std::min(first, entry.end);
    if (entry.ended_at != clock::time_point::max())
      first = std::min(first, entry.ended_at + services->options.rules.kept);
  }
  return first;
}

sandbox_actor::behavior_type
sandbox(sandbox_actor::stateful_pointer<live_sandbox> self,
        sandbox_services_ptr services, run_services_ptr engine,
        std::shared_ptr<sandbox_init> init) {
  auto& s = self->state;
  s.self = self;
  s.services = std::move(services);
  s.engine = std::move(engine);
  s.who = std::move(init->who);
  s.env = std::move(init->env);
  s.events = std::move(init->events);
  s.box = std::move(init->box);
  s.at_place = std::move(init->at_place);
  s.git = std::move(init->git);
  s.place_index = init->place;
  s.life = std::make_unique<sandbox_life>(
    std::move(init->record), s.services->options.rules, s.services->now());
  if (init->was_there)
    s.take_over(init->was_over);
  return {
    [self](admit_atom) { self->state.admit(); },
    [self](find_atom) { return record_answer{self->state.record()}; },
    [self](ready_atom) { return self->state.ready(); },
    [self](renew_atom, const renew_order& o) { return self->state.renew(o); },
    [self](connect_atom, const connect_order& o) {
      return self->state.connect(o);
    },
    [self](change_atom, const patch_order& o) { return self->state.change(o); },
    [self](pause_atom) { return self->state.pause(); },
    [self](resume_atom) { return self->state.resume(); },
    [self](snapshot_atom, const snapshot_order& o) {
      return self->state.snapshot(o);
    },
    [self](rollback_atom, const rollback_order& o) {
      return self->state.rollback(o);
    },
    [self](remove_atom, const remove_order& o) {
      return self->state.remove(o);
    },
    [self](start_atom, const start_order& o) { return self->state.begin(o); },
    [self](find_atom, const process_reference& which) {
      return self->state.find(which);
    },
    [self](list_atom) { return self->state.list(); },
    [self](remove_atom, const process_reference& which) {
      return self->state.remove(which);
    },
    [self](start_atom, const context_order& o) { return self->state.begin(o); },
    [self](start_atom, const cell_order& o) { return self->state.begin(o); },
    [self](find_atom, const context_reference& which) {
      return self->state.find(which);
    },
    [self](list_atom, const context_reference&) {
      return self->state.list_contexts();
    },
    [self](remove_atom, const context_reference& which) {
      return self->state.remove(which);
    },
    [self](access_atom) { return self->state.enter(); },
    [self](event_atom, const place_event& news) { self->state.handle(news); },
    [self](tick_atom) { self->state.tick(); },
  };
}

} // namespace troupe
