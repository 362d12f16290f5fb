#include "net/api/routes.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_headers.hpp"
#include "net/api/shared/run_json.hpp"
#include "net/api/shared/run_responses.hpp"
#include "net/api/shared/run_stream.hpp"
#include "runtime/engine/kept_files.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::net {

namespace {

using result_ptr = std::shared_ptr<const run_result>;
using request_ptr = std::shared_ptr<const run_request>;

class run_routes : public std::enable_shared_from_this<run_routes> {
public:
  run_routes(engine& core, const api_options& options)
      : core_{core}, options_{options} {}

  void create(const exchange_ptr& ex);
  void run_tool(const exchange_ptr& ex);
  void explain(const exchange_ptr& ex);
  void find(const exchange_ptr& ex);
  void events(const exchange_ptr& ex);
  void logs(const exchange_ptr& ex);
  void file(const exchange_ptr& ex);
  void cancel(const exchange_ptr& ex);
  void request(const exchange_ptr& ex);
  void rerun(const exchange_ptr& ex);

private:
  std::optional<run_request> read(exchange& ex);
  std::optional<run_request> read(exchange& ex, const json::object& body);
  void start(const exchange_ptr& ex, run_request run);
  void run_and_answer(const exchange_ptr& ex, run_request run);
  void run_and_stream(const exchange_ptr& ex, run_request run,
                      stream_format format);
  void run_detached_and_stream(const exchange_ptr& ex, run_request run,
                               stream_format format);
  void run_detached(const exchange_ptr& ex, run_request run,
                    const preference& want);
  void wait_for(const exchange_ptr& ex, const run_record& record,
                const run_id& asked, std::chrono::seconds time);

  engine& core_;
  const api_options options_;
};

/// The id in the path. A malformed one is as unknown as a foreign one.
std::optional<run_id> id_in_path(exchange& ex) {
  if (auto id = run_id::parse(ex.param(0)))
    return std::move(*id);
  respond_not_found(ex, "run", "/v1/runs");
  return std::nullopt;
}

void answer_record(const exchange_ptr& ex, result<run_record> found,
                   int status = 200) {
  if (!found) {
    ex->fail(found.error(), ex->param(0));
    return;
  }
  ex->answer_json(to_json_text(*found), status);
}

std::string waited(std::chrono::seconds time) {
  return "wait=" + std::to_string(time.count());
}

std::optional<run_request> run_routes::read(exchange& ex) {
  auto body = idempotency_key_of(ex) ? body_of(ex) : std::nullopt;
  return body ? read(ex, *body) : std::nullopt;
}

std::optional<run_request> run_routes::read(exchange& ex,
                                            const json::object& body) {
  auto run = parse_run_request(body);
  if (!run) {
    ex.fail(run.error());
    return std::nullopt;
  }
  if (run->id.empty())
    run->id = run_id::make();
  run->organization = ex.who().organization;
  run->user = ex.who().user;
  if (!read_run_fields(ex, *run))
    return std::nullopt;
  return std::move(*run);
}

void run_routes::create(const exchange_ptr& ex) {
  if (auto run = read(*ex))
    start(ex, std::move(*run));
}

/// The tool is in the path, by id or by name; the body says the rest.
void run_routes::run_tool(const exchange_ptr& ex) {
  auto body = idempotency_key_of(*ex) ? optional_body_of(*ex) : std::nullopt;
  if (!body)
    return;
  auto text = ex->param(0);
  (*body)[tool_id::parse(text) ? "tool_id" : "tool_name"] = text;
  if (auto run = read(*ex, *body))
    start(ex, std::move(*run));
}

void run_routes::start(const exchange_ptr& ex, run_request run) {
  auto want = read_preference(ex->in());
  auto format = wanted_stream(ex->in());
  if (format && want.respond_async)
    run_detached_and_stream(ex, std::move(run), *format);
  else if (format)
    run_and_stream(ex, std::move(run), *format);
  else if (want.respond_async || want.wait)
    run_detached(ex, std::move(run), want);
  else
    run_and_answer(ex, std::move(run));
}

void run_routes::run_and_answer(const exchange_ptr& ex, run_request run) {
  auto id = run.id;
  // Whoever hangs up no longer wants it.
  ex->on_disconnect([&core = core_, who = ex->who(), id] {
    core.cancel(who, id, [](result<run_record>) {});
  });
  core_.submit(ex->who(), std::move(run),
               [&core = core_, ex, id](result<result_ptr> done) {
                 if (!done) {
                   fail_run(core, ex, done.error(), id);
                   return;
                 }
                 answer_result(*ex, **done, (*done)->replayed);
               });
}

void run_routes::run_and_stream(const exchange_ptr& ex, run_request run,
                                stream_format format) {
  auto id = run.id;
  auto stream = std::make_shared<run_stream>(core_, ex, format, id);
  ex->on_disconnect([&core = core_, who = ex->who(), id] {
    core.cancel(who, id, [](result<run_record>) {});
  });
  core_.submit(
    ex->who(), std::move(run),
    [stream](result<result_ptr> done) { stream->finished(std::move(done)); },
    [stream](const run_event& e) { return stream->event(e); });
}

/// The run outlives its reader, who may come back: to /events, with the number
/// of the last event that he saw.
void run_routes::run_detached_and_stream(const exchange_ptr& ex,
                                         run_request run,
                                         stream_format format) {
  auto id = run.id;
  core_.submit_detached(
    ex->who(), std::move(run),
    [self = shared_from_this(), ex, format, id](result<run_record> record) {
      if (!record) {
        fail_run(self->core_, ex, record.error(), id);
        return;
      }
      auto stream
        = std::make_shared<run_stream>(self->core_, ex, format, record->id);
      stream->announce(head_of(*record, id, std::string{respond_async}));
      stream->follow(0);
    });
}

void run_routes::run_detached(const exchange_ptr& ex, run_request run,
                              const preference& want) {
  auto time = want.wait;
  if (time)
    time = std::clamp(*time, std::chrono::seconds{0}, options_.longest_wait);
  auto id = run.id;
  core_.submit_detached(
    ex->who(), std::move(run),
    [self = shared_from_this(), ex, id, time](result<run_record> record) {
      if (!record)
        fail_run(self->core_, ex, record.error(), id);
      else if (time && time->count() > 0)
        self->wait_for(ex, *record, id, *time);
      else
        answer_accepted(*ex, *record, id,
                        time ? waited(*time) : std::string{respond_async});
    });
}

/// Answers with the result if it comes in time, else with 202.
void run_routes::wait_for(const exchange_ptr& ex, const run_record& record,
                          const run_id& asked, std::chrono::seconds time) {
  // Weak: a request that was answered early should not be kept for this.
  ex->after(time,
            [self = shared_from_this(), weak = ex->weak_from_this(), record,
             asked, time] {
              auto ex = weak.lock();
              if (!ex || ex->answered())
                return;
              auto answer = [ex, record, asked, time](result<run_record> now) {
                answer_accepted(*ex, now ? *now : record, asked, waited(time));
              };
              self->core_.find_run(ex->who(), record.id, std::move(answer));
            });
  auto sink = [ex, id = record.id, asked](const run_event& e) {
    if (e.kind != run_event_kind::end)
      return !ex->answered();
    if (e.result)
      answer_result(*ex, *e.result, id != asked);
    else if (e.failure)
      ex->fail(*e.failure, id.str());
    return false;
  };
  core_.subscribe(ex->who(), record.id, 0, sink, [ex](result<void> accepted) {
    if (!accepted)
      ex->fail(accepted.error());
  });
}

void run_routes::explain(const exchange_ptr& ex) {
  auto run = read(*ex);
  if (!run)
    return;
  core_.explain(ex->who(), std::move(*run), [ex](result<explanation> done) {
    if (done)
      ex->answer_json(to_json_text(*done));
    else
      ex->fail(done.error());
  });
}

void run_routes::find(const exchange_ptr& ex) {
  if (auto id = id_in_path(*ex))
    core_.find_run(ex->who(), *id, [ex](result<run_record> found) {
      answer_record(ex, std::move(found));
    });
}

void run_routes::events(const exchange_ptr& ex) {
  auto id = id_in_path(*ex);
  if (!id)
    return;
  std::uint64_t after = 0;
  auto last = ex->in().field("last-event-id");
  auto end = last.data() + last.size();
  if (!last.empty() && std::from_chars(last.data(), end, after).ptr != end) {
    ex->refuse(400, "bad_last_event_id", "Last-Event-ID must be a number");
    return;
  }
  auto format = wanted_stream(ex->in()).value_or(stream_format::sse);
  std::make_shared<run_stream>(core_, ex, format, *id)->follow(after);
}

void run_routes::logs(const exchange_ptr& ex) {
  auto id = id_in_path(*ex);
  if (!id)
    return;
  core_.find_run(ex->who(), *id, [&core = core_, ex](result<run_record> found) {
    if (!found)
      ex->fail(found.error());
    else if (found->phase != run_phase::ended)
      answer_output_so_far(core, ex, *found);
    else
      answer_output(*ex, *found, found->result ? *found->result : run_result{});
  });
}

void run_routes::request(const exchange_ptr& ex) {
  if (auto id = id_in_path(*ex))
    core_.find_request(ex->who(), *id, [ex](result<request_ptr> found) {
      if (found)
        ex->answer_json(json::to_text(to_json(**found)));
      else
        ex->fail(found.error());
    });
}

/// The same once more, as a run of its own: nothing of the first one but what
/// was asked for.
void run_routes::rerun(const exchange_ptr& ex) {
  auto id = idempotency_key_of(*ex) ? id_in_path(*ex) : std::nullopt;
  if (!id)
    return;
  auto begin = [self = shared_from_this(), ex](result<request_ptr> found) {
    if (!found) {
      ex->fail(found.error());
      return;
    }
    auto run = **found;
    run.id = run_id::make();
    run.organization = ex->who().organization;
    run.user = ex->who().user;
    run.idempotency_key.clear();
    run.traceparent.clear();
    if (read_run_fields(*ex, run))
      self->start(ex, std::move(run));
  };
  core_.find_request(ex->who(), *id, std::move(begin));
}

/// A file that was too large for the answer.
void run_routes::file(const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto name = query.text("name");
  if (!name)
    query.complain("name", "is missing", "the name of an output file");
  if (auto bad = query.finish()) {
    ex->fail(*bad);
    return;
  }
  auto id = id_in_path(*ex);
  if (!id)
    return;
  auto found = options_.files == nullptr
    ? nullptr
    : options_.files->find(ex->who().organization, *id, *name);
  if (!found) {
    ex->refuse(404, "not_found",
               "this run has no such file here (any more): it is kept for a "
               "while, and until the engine stops");
    return;
  }
  response r;
  // Never a page of ours: what a tool wrote must not run as one.
  r.type = "application/octet-stream";
  r.body = *found;
  ex->answer(std::move(r));
}

void run_routes::cancel(const exchange_ptr& ex) {
  if (auto id = id_in_path(*ex))
    core_.cancel(ex->who(), *id, [ex](result<run_record> found) {
      auto status = found && found->phase == run_phase::ended ? 200 : 202;
      answer_record(ex, std::move(found), status);
    });
}

} // namespace

void add_runs(router& routes, engine& core, const api_options& options,
              const memory_ptr& memory) {
  auto all = std::make_shared<run_routes>(core, options);
  auto bind = [&](auto member) {
    return [all, member](exchange_ptr ex) { ((*all).*member)(ex); };
  };
  auto rules = needing(scope::run);
  rules.body_limit = options.run_body_limit;
  routes.add(method::post, "/v1/runs", bind(&run_routes::create), rules);
  routes.add(method::post, "/v1/runs/explain", bind(&run_routes::explain),
             rules);
  routes.add(method::post, "/v1/tools/{tool}/run", bind(&run_routes::run_tool),
             rules);
  rules.body_limit = 0;
  rules.body = body_rule::none;
  routes.add(method::get, "/v1/runs/{id}", bind(&run_routes::find), rules);
  routes.add(method::post, "/v1/runs/{id}/cancel",
             memory->remembering(bind(&run_routes::cancel)), rules);
  routes.add(method::get, "/v1/runs/{id}/events", bind(&run_routes::events),
             rules);
  routes.add(method::get, "/v1/runs/{id}/logs", bind(&run_routes::logs), rules);
  routes.add(method::get, "/v1/runs/{id}/request", bind(&run_routes::request),
             rules);
  routes.add(method::post, "/v1/runs/{id}/rerun", bind(&run_routes::rerun),
             rules);
  rules.inspect = nullptr; // it reads the name itself
  routes.add(method::get, "/v1/runs/{id}/files", bind(&run_routes::file),
             rules);
}

} // namespace troupe::net
