#pragma once

#include "runtime/engine/engine.hpp"
#include "tests/support/engine/memory_catalog.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace troupe::test {

/// An engine in memory: the catalog is real, runs are scripted. Answers on
/// the calling thread, or, with `hold`, when the test says so.
class fake_engine : public engine {
public:
  using script = std::function<result<run_result>(const run_request&)>;

  fake_engine() {
    play = [](const run_request& r) -> result<run_result> {
      run_result done;
      done.id = r.id;
      done.status = run_status::success;
      done.reason = exit_reason::exited;
      done.value_json = r.args_json;
      return done;
    };
  }

  // -- the test's side -------------------------------------------------------
  script play;
  std::atomic<bool> hold{false};
  std::atomic<bool> healthy{true};
  std::optional<error> unclear;   // what sources say of themselves
  std::string unclear_parameters; // and of their parameters, when not empty
  json::object parameters{{"type", "object"}, {"properties", json::object{}}};
  std::atomic<int> cancelled{0};
  std::atomic<std::size_t> told{0}; // events that somebody took
  std::vector<std::string> chatter; // stdout of every streamed run
  run_phase begins_as = run_phase::running;
  std::vector<run_event> so_far; // of every run that goes on

  /// All runs that have not ended are this far now.
  void move_on(run_phase phase) {
    std::lock_guard lock{mutex_};
    for (auto& [id, run] : records_)
      if (run.phase != run_phase::ended)
        run.phase = phase;
  }

  /// Finishes what is held back.
  void release() {
    std::deque<std::function<void()>> held;
    {
      std::lock_guard lock{mutex_};
      held.swap(held_);
    }
    for (auto& one : held)
      one();
  }
  std::size_t held() {
    std::lock_guard lock{mutex_};
    return held_.size();
  }
  void add_key(api_key key) { catalog_.add_key(std::move(key)); }
  run_request last_request() {
    std::lock_guard lock{mutex_};
    return last_;
  }

  // -- runs ------------------------------------------------------------------
  void submit(caller who, run_request request,
              handler<std::shared_ptr<const run_result>> done,
              event_sink events) override {
    auto id = begin(who, request);
    later([this, id, request, done, events] {
      auto all = finish(id, request);
      if (events)
        tell(*all, 0, events);
      if (all->back().result)
        done(all->back().result);
      else
        done(*all->back().failure);
    });
  }

  void submit_detached(caller who, run_request request,
                       handler<run_record> accepted) override {
    auto id = begin(who, request);
    accepted(record(id));
    later([this, id, request] {
      auto all = finish(id, request);
      std::vector<event_sink> sinks;
      {
        std::lock_guard lock{mutex_};
        sinks.swap(sinks_[id]);
      }
      for (auto& sink : sinks)
        tell(*all, 0, sink);
    });
  }

  void cancel(caller who, run_id id, handler<run_record> done) override {
    ++cancelled;
    find_run(who, id, done);
  }

  void find_run(caller who, run_id id, handler<run_record> done) override {
    auto found = record(id);
    if (found.id.empty() || found.organization != who.organization)
      done(error{ec::not_found, "there is no such run", {}, {}});
    else
      done(found);
  }

  void find_request(caller who, run_id id,
                    handler<std::shared_ptr<const run_request>> done) override {
    find_run(who, id, [this, id, done](result<run_record> found) {
      if (!found)
        return done(found.error());
      std::shared_ptr<const run_request> kept;
      {
        std::lock_guard lock{mutex_};
        kept = requests_[id];
      }
      done(std::move(kept));
    });
  }

  void list_runs(caller who, std::string after, std::size_t limit,
                 handler<page<run_record>> done) override {
    page<run_record> out;
    {
      std::lock_guard lock{mutex_};
      for (auto i = records_.upper_bound(run_id{after}); i != records_.end();
           ++i) {
        if (i->second.organization != who.organization)
          continue;
        if (out.items.size() == limit) {
          out.next = out.items.back().id.str();
          break;
        }
        out.items.push_back(i->second);
      }
    }
    done(std::move(out));
  }

  void subscribe(caller who, run_id id, std::uint64_t sequence,
                 event_sink events, handler<void> accepted) override {
    auto found = record(id);
    if (found.id.empty() || found.organization != who.organization) {
      accepted(error{ec::not_found, "there is no such run", {}, {}});
      return;
    }
    accepted({});
    happenings all;
    {
      std::lock_guard lock{mutex_};
      all = events_[id];
    }
    if (!all)
      tell(so_far, sequence, events);
    {
      std::lock_guard lock{mutex_};
      all = events_[id];
      if (!all) {
        sinks_[id].push_back(events);
        return;
      }
    }
    tell(*all, sequence, events);
  }

  void explain(caller, run_request, handler<explanation> done) override {
    explanation e;
    e.variables = {{"TOKEN", "sandbox config"}};
    e.candidates = {backend_kind::local};
    e.reasons = {"local is the only backend"};
    e.fingerprint = "42";
    done(std::move(e));
  }

  // -- configuration ---------------------------------------------------------
  catalog_ptr snapshot() const override { return catalog_.snapshot(); }

  void change(caller who, catalog_change what,
              handler<change_reply> done) override {
    done(catalog_.change(who, std::move(what)));
  }

  void derive_schema(caller, language, std::string source, std::string,
                     handler<derived_schema> done) override {
    if (unclear)
      return done(*unclear);
    auto at = source.find("def ");
    if (at == std::string::npos) {
      done(bad_field("/source_code", "no function found in the source"));
      return;
    }
    derived_schema out;
    out.name = source.substr(at + 4, source.find('(', at) - at - 4);
    out.description = "A derived tool";
    out.schema["name"] = out.name;
    out.schema["description"] = out.description;
    out.schema["parameters"] = parameters;
    out.unclear = unclear_parameters;
    if (!out.unclear.empty())
      out.schema.clear();
    done(std::move(out));
  }

  // -- operations ------------------------------------------------------------
  void health(handler<engine_health> done) override {
    engine_health h;
    h.ready = healthy;
    h.components = {{"store", healthy ? "ready" : "failing"}};
    backend_health b;
    b.configured = b.ready = true;
    b.circuit = "closed";
    h.backends = {b};
    done(std::move(h));
  }

  void list_audit(caller, std::uint64_t after, std::size_t,
                  handler<page<audit_entry>> done) override {
    page<audit_entry> out;
    if (after == 0)
      out.items.push_back({1, {}, "abc", {{"what", "tool.put"}}});
    done(std::move(out));
  }

  std::string metrics() const override {
    return "# HELP troupe_runs_total Runs.\n# TYPE troupe_runs_total counter\n"
           "troupe_runs_total 1\n";
  }

private:
  using happenings = std::shared_ptr<const std::vector<run_event>>;

  void tell(const std::vector<run_event>& all, std::uint64_t after,
            const event_sink& sink) {
    for (const auto& e : all) {
      if (e.sequence <= after)
        continue;
      if (!sink(e))
        return;
      ++told;
    }
  }

  void later(std::function<void()> f) {
    if (!hold) {
      f();
      return;
    }
    std::lock_guard lock{mutex_};
    held_.push_back(std::move(f));
  }

  run_id begin(const caller& who, const run_request& r) {
    std::lock_guard lock{mutex_};
    last_ = r;
    run_record record;
    record.id = r.id;
    record.organization = who.organization;
    record.tool_name = r.tool_name;
    record.phase = begins_as;
    records_[r.id] = record;
    requests_[r.id] = std::make_shared<const run_request>(r);
    return r.id;
  }

  run_record record(const run_id& id) {
    std::lock_guard lock{mutex_};
    auto i = records_.find(id);
    return i == records_.end() ? run_record{} : i->second;
  }

  happenings finish(const run_id& id, const run_request& r) {
    auto done = play(r);
    std::vector<run_event> all;
    auto add = [&](run_event_kind kind, std::string data = {}) -> run_event& {
      auto& e = all.emplace_back();
      e.sequence = all.size();
      e.kind = kind;
      e.data = std::move(data);
      return e;
    };
    if (!done || !done->replayed) { // nothing happens to a run that was
      add(run_event_kind::accepted);
      add(run_event_kind::started);
    }
    for (const auto& text : chatter)
      add(run_event_kind::out, text);
    auto& end = add(run_event_kind::end);
    std::lock_guard lock{mutex_};
    auto& kept = records_[id];
    kept.phase = run_phase::ended;
    if (done)
      kept.result = end.result = std::make_shared<run_result>(*done);
    else
      kept.failure = end.failure = std::make_shared<error>(done.error());
    return events_[id]
      = std::make_shared<const std::vector<run_event>>(std::move(all));
  }

  mutable std::mutex mutex_;
  memory_catalog catalog_;
  run_request last_;
  std::map<run_id, run_record> records_;
  std::map<run_id, std::shared_ptr<const run_request>> requests_;
  std::map<run_id, happenings> events_;
  std::map<run_id, std::vector<event_sink>> sinks_;
  std::deque<std::function<void()>> held_;
};

} // namespace troupe::test
