#pragma once

#include "runtime/engine.hpp"

#include <deque>
#include <map>
#include <mutex>

namespace troupe::test {

/// An engine in memory: the catalog is real, runs are scripted. Answers on
/// the calling thread, or, with `hold`, when the test says so.
class fake_engine : public engine {
public:
  using script = std::function<result<run_result>(const run_request&)>;

  fake_engine() : catalog_{std::make_shared<catalog>()} {
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
  std::atomic<int> cancelled{0};
  std::vector<std::string> chatter; // stdout of every streamed run

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
  void add_key(api_key key) {
    std::lock_guard lock{mutex_};
    auto next = std::make_shared<catalog>(*catalog_);
    auto hash = key.hash;
    next->keys_by_hash[hash] = std::make_shared<api_key>(std::move(key));
    catalog_ = next;
  }
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
      for (const auto& e : all)
        if (events && !events(e))
          break;
      if (all.back().result)
        done(all.back().result);
      else
        done(*all.back().failure);
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
        for (const auto& e : all)
          if (!sink(e))
            break;
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
    std::vector<run_event> all;
    {
      std::lock_guard lock{mutex_};
      all = events_[id];
      if (all.empty()) {
        sinks_[id].push_back(events);
        return;
      }
    }
    for (const auto& e : all)
      if (e.sequence > sequence && !events(e))
        return;
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
  catalog_ptr snapshot() const override {
    std::lock_guard lock{mutex_};
    return catalog_;
  }

  void change(caller who, catalog_change what,
              handler<change_reply> done) override {
    result<change_reply> reply{change_reply{}};
    {
      std::lock_guard lock{mutex_};
      auto next = std::make_shared<catalog>(*catalog_);
      auto& slot = next->organizations[who.organization];
      auto mine = slot ? std::make_shared<organization_catalog>(*slot)
                       : std::make_shared<organization_catalog>();
      mine->id = who.organization;
      reply = std::visit([&](auto& c) { return apply(who, *next, *mine, c); },
                         what);
      if (reply) {
        slot = mine;
        ++next->version;
        catalog_ = next;
      }
    }
    done(std::move(reply));
  }

  void derive_schema(caller, language, std::string source, std::string,
                     handler<derived_schema> done) override {
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
    out.schema["parameters"]
      = json::object{{"type", "object"}, {"properties", json::object{}}};
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
  using outcome = result<change_reply>;

  static error missing() {
    return {ec::not_found, "there is no such thing", {}, {}};
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
    record.phase = run_phase::running;
    records_[r.id] = record;
    return r.id;
  }

  run_record record(const run_id& id) {
    std::lock_guard lock{mutex_};
    auto i = records_.find(id);
    return i == records_.end() ? run_record{} : i->second;
  }

  std::vector<run_event> finish(const run_id& id, const run_request& r) {
    auto done = play(r);
    std::vector<run_event> all;
    auto add = [&](run_event_kind kind, std::string data = {}) -> run_event& {
      auto& e = all.emplace_back();
      e.sequence = all.size();
      e.kind = kind;
      e.data = std::move(data);
      return e;
    };
    add(run_event_kind::accepted);
    add(run_event_kind::started);
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
    events_[id] = all;
    return all;
  }

  static timestamp time_now() {
    return std::chrono::floor<std::chrono::microseconds>(
      std::chrono::system_clock::now());
  }

  outcome apply(const caller& who, catalog&, organization_catalog& c,
                put_tool& p) {
    change_reply out;
    auto known = c.tools_by_name.find(p.value.name);
    if (known != c.tools_by_name.end()) {
      if (p.must_be_new)
        return error{ec::conflict, "a tool of that name exists", {}, {}};
      const auto& old = *c.tools[known->second];
      p.value.id = old.id;
      p.value.revision = old.revision + 1;
      p.value.created_at = old.created_at;
    } else {
      out.created = true;
      p.value.id = tool_id::make();
      p.value.created_at = time_now();
    }
    p.value.updated_at = time_now();
    p.value.organization = who.organization;
    out.tool = std::make_shared<tool>(p.value);
    c.tools_by_name[p.value.name] = p.value.id;
    c.tools[p.value.id] = out.tool;
    return out;
  }

  outcome apply(const caller&, catalog&, organization_catalog& c,
                update_tool& u) {
    auto i = c.tools.find(u.value.id);
    if (i == c.tools.end())
      return missing();
    if (u.if_revision && *u.if_revision != i->second->revision)
      return error{ec::conflict, "it has changed", {}, {}};
    auto named = c.tools_by_name.find(u.value.name);
    if (named != c.tools_by_name.end() && named->second != u.value.id)
      return error{ec::conflict, "a tool of that name exists", {}, {}};
    c.tools_by_name.erase(i->second->name);
    u.value.revision = i->second->revision + 1;
    u.value.updated_at = time_now();
    change_reply out;
    out.tool = i->second = std::make_shared<tool>(u.value);
    c.tools_by_name[u.value.name] = u.value.id;
    return out;
  }

  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_tool& d) {
    auto i = c.tools.find(d.id);
    if (i == c.tools.end())
      return missing();
    c.tools_by_name.erase(i->second->name);
    c.tools.erase(i);
    return change_reply{};
  }

  outcome put(const caller& who, organization_catalog& c, backend_kind type,
              json::object config, bool keep) {
    change_reply out;
    sandbox_config value;
    auto known = c.configs_by_type.find(type);
    if (known != c.configs_by_type.end()) {
      value = *c.configs[known->second];
      if (keep) {
        out.config = c.configs[known->second];
        return out;
      }
      ++value.revision;
    } else {
      out.created = true;
      value.id = config_id::make();
      value.created_at = time_now();
    }
    value.organization = who.organization;
    value.type = type;
    value.config = std::move(config);
    value.updated_at = time_now();
    out.config = std::make_shared<sandbox_config>(value);
    c.configs_by_type[type] = value.id;
    c.configs[value.id] = out.config;
    return out;
  }

  outcome apply(const caller& w, catalog&, organization_catalog& c,
                put_config& p) {
    return put(w, c, p.type, p.config, false);
  }
  outcome apply(const caller& w, catalog&, organization_catalog& c,
                default_config& p) {
    return put(w, c, p.type, {{"timeout", 300}}, true);
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                update_config& u) {
    auto i = c.configs.find(u.id);
    if (i == c.configs.end())
      return missing();
    if (u.if_revision && *u.if_revision != i->second->revision)
      return error{ec::conflict, "it has changed", {}, {}};
    auto value = *i->second;
    value.config = u.config;
    ++value.revision;
    value.updated_at = time_now();
    change_reply out;
    out.config = i->second = std::make_shared<sandbox_config>(value);
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_config& d) {
    auto i = c.configs.find(d.id);
    if (i == c.configs.end())
      return missing();
    for (const auto& [key, v] : c.variables[d.id])
      c.variables_by_id.erase(v->about.id);
    c.variables.erase(d.id);
    c.configs_by_type.erase(i->second->type);
    c.configs.erase(i);
    return change_reply{};
  }

  outcome apply(const caller& who, catalog&, organization_catalog& c,
                put_variable& p) {
    if (!c.configs.contains(p.config))
      return missing();
    change_reply out;
    auto& slot = c.variables[p.config][p.key];
    sealed_variable value;
    if (slot)
      value = *slot;
    out.created = !slot;
    if (!slot) {
      value.about.id = variable_id::make();
      value.about.created_at = time_now();
    }
    value.about.organization = who.organization;
    value.about.config = p.config;
    value.about.key = p.key;
    value.about.description = p.description;
    value.about.updated_at = time_now();
    value.sealed = "sealed";
    out.variable = slot = std::make_shared<sealed_variable>(value);
    c.variables_by_id[value.about.id] = slot;
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                update_variable& u) {
    auto i = c.variables_by_id.find(u.id);
    if (i == c.variables_by_id.end())
      return missing();
    auto value = *i->second;
    auto& named = c.variables[value.about.config];
    if (u.key && *u.key != value.about.key && named.contains(*u.key))
      return error{ec::conflict, "a variable of that name exists", {}, {}};
    named.erase(value.about.key);
    if (u.key)
      value.about.key = *u.key;
    if (u.description)
      value.about.description = *u.description;
    value.about.updated_at = time_now();
    change_reply out;
    out.variable = std::make_shared<sealed_variable>(value);
    named[value.about.key] = out.variable;
    c.variables_by_id[u.id] = out.variable;
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_variable& d) {
    auto i = c.variables_by_id.find(d.id);
    if (i == c.variables_by_id.end())
      return missing();
    c.variables[i->second->about.config].erase(i->second->about.key);
    c.variables_by_id.erase(i);
    return change_reply{};
  }

  outcome apply(const caller& who, catalog&, organization_catalog& c,
                put_agent_variables& p) {
    auto& mine = c.agent_variables[p.agent_id];
    if (p.replace_all)
      mine.clear();
    for (const auto& [key, value] : p.values) {
      sealed_agent_variable v;
      v.about.id = agent_variable_id::make();
      v.about.organization = who.organization;
      v.about.agent_id = p.agent_id;
      v.about.key = key;
      v.about.created_at = v.about.updated_at = time_now();
      mine[key] = std::make_shared<sealed_agent_variable>(v);
    }
    change_reply out;
    for (const auto& [key, v] : mine)
      out.agent_variables.push_back(v);
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_agent_variable& d) {
    if (c.agent_variables[d.agent_id].erase(d.key) == 0)
      return missing();
    return change_reply{};
  }

  outcome apply(const caller&, catalog& all, organization_catalog&,
                put_key& p) {
    change_reply out;
    out.created = true;
    out.key = std::make_shared<api_key>(p.value);
    all.keys_by_hash[p.value.hash] = out.key;
    return out;
  }
  outcome apply(const caller& who, catalog& all, organization_catalog&,
                delete_key& d) {
    for (auto i = all.keys_by_hash.begin(); i != all.keys_by_hash.end(); ++i)
      if (i->second->id == d.id
          && i->second->organization == who.organization) {
        all.keys_by_hash.erase(i);
        return change_reply{};
      }
    return missing();
  }

  mutable std::mutex mutex_;
  catalog_ptr catalog_;
  run_request last_;
  std::map<run_id, run_record> records_;
  std::map<run_id, std::vector<run_event>> events_;
  std::map<run_id, std::vector<event_sink>> sinks_;
  std::deque<std::function<void()>> held_;
};

} // namespace troupe::test
