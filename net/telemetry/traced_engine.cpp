#include "net/telemetry/traced_engine.hpp"

#include "runtime/engine/catalog.hpp"
#include "runtime/json/json.hpp"

#include <algorithm>

namespace troupe::net {

using result_ptr = std::shared_ptr<const run_result>;

namespace {

bool skip(std::string_view& line, std::string_view word) {
  bool there = line.starts_with(word);
  if (there)
    line.remove_prefix(word.size());
  return there;
}

/// What runs of a source when nothing is named: its last function at the top.
/// A glance, for a name that people read; the runner looks properly.
std::string_view last_function(std::string_view source, language lang) {
  std::string_view found;
  while (!source.empty()) {
    auto line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(source.size(), line.size() + 1));
    for (auto before : {"export ", "default ", "async "})
      skip(line, before);
    if (skip(line, lang == language::python ? "def " : "function "))
      found = line.substr(0, line.find_first_of("(<: "));
  }
  return found;
}

std::string name_of_source(const run_request& request) {
  if (!request.function.empty())
    return request.function;
  if (auto schema = json::parse_object(request.json_schema))
    if (auto name = schema->if_contains("name"); name && name->is_string())
      return std::string{name->get_string()};
  auto found = last_function(request.source, request.lang);
  return found.empty() ? "source" : std::string{found};
}

} // namespace

/// A run that has not ended yet.
struct traced_engine::open_span {
  span what;
  std::shared_ptr<const sink> spans;

  void note(std::string_view key, span_value value) {
    what.attributes.emplace_back(key, std::move(value));
  }
  void fail(std::string_view kind) {
    what.failed = true;
    what.status = kind;
    note("error.type", std::string{kind});
  }
  /// The tool's own words stay out: they may hold anything.
  void end(const run_result& r) {
    what.end = std::chrono::system_clock::now();
    note("troupe.backend", std::string{to_string(r.backend)});
    note("troupe.exit_reason", std::string{to_string(r.reason)});
    note("troupe.usage.cpu_us", static_cast<std::int64_t>(r.usage.cpu.count()));
    if (r.status != run_status::success)
      fail(r.failure.name.empty() ? to_string(r.reason)
                                  : std::string_view{r.failure.name});
    auto begin = what.begin;
    for (const auto& stage : r.stages) {
      span part;
      part.context = next_span(what.context, 1);
      part.parent = what.context.span;
      part.name = "stage " + stage.name;
      part.begin = begin;
      part.end = begin += stage.took;
      (*spans)(std::move(part));
    }
    (*spans)(std::move(what));
  }
  void end(const error& why) {
    what.end = std::chrono::system_clock::now();
    fail(to_string(why.code));
    (*spans)(std::move(what));
  }
};

std::string traced_engine::name_of(const caller& who,
                                   const run_request& request) const {
  switch (request.kind) {
  case run_kind::code:
    return "code";
  case run_kind::command:
    return "command";
  case run_kind::source:
    return name_of_source(request);
  case run_kind::tool:
    break;
  }
  if (!request.tool_name.empty())
    return request.tool_name;
  auto all = core_.snapshot();
  auto* mine = all ? all->find(who.organization) : nullptr;
  if (!mine)
    return {};
  auto i = mine->tools.find(request.tool);
  return i == mine->tools.end() ? std::string{} : i->second->name;
}

std::shared_ptr<traced_engine::open_span>
traced_engine::begin(const caller& who, run_request& request) const {
  if (request.id.empty())
    request.id = run_id::make();
  auto parent = parse_traceparent(request.traceparent);
  auto context = next_span(parent, share_);
  request.traceparent = to_traceparent(context);
  if (!context.sampled)
    return nullptr;
  auto open = std::make_shared<open_span>();
  open->spans = spans_;
  open->what.context = context;
  if (parent)
    open->what.parent = parent->span;
  auto name = name_of(who, request);
  open->what.name = name.empty() ? "execute_tool" : "execute_tool " + name;
  open->what.begin = std::chrono::system_clock::now();
  open->note("gen_ai.operation.name", "execute_tool");
  if (!name.empty())
    open->note("gen_ai.tool.name", std::move(name));
  open->note("gen_ai.tool.call.id", request.id.str());
  if (!request.agent_id.empty())
    open->note("gen_ai.agent.id", request.agent_id);
  open->note("troupe.organization", who.organization.str());
  return open;
}

void traced_engine::submit(caller who, run_request request,
                           handler<result_ptr> done, event_sink events) {
  auto open = begin(who, request);
  if (open)
    done = [open, done = std::move(done)](result<result_ptr> ended) {
      if (ended)
        open->end(**ended);
      else
        open->end(ended.error());
      done(std::move(ended));
    };
  core_.submit(std::move(who), std::move(request), std::move(done),
               std::move(events));
}

void traced_engine::submit_detached(caller who, run_request request,
                                    handler<run_record> accepted) {
  auto open = begin(who, request);
  if (!open)
    return core_.submit_detached(std::move(who), std::move(request),
                                 std::move(accepted));
  auto follow = [open, &core = core_, who,
                 accepted = std::move(accepted)](result<run_record> record) {
    if (!record) {
      open->end(record.error());
    } else {
      auto sink = [open](const run_event& e) {
        if (e.kind != run_event_kind::end)
          return true;
        if (e.result)
          open->end(*e.result);
        else if (e.failure)
          open->end(*e.failure);
        return false;
      };
      core.subscribe(who, record->id, 0, sink, [](result<void>) {});
    }
    accepted(std::move(record));
  };
  core_.submit_detached(std::move(who), std::move(request), std::move(follow));
}

} // namespace troupe::net
