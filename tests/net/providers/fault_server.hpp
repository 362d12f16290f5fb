#pragma once

#include "net/providers/aio/provider.hpp"
#include "net/providers/daytona/provider.hpp"
#include "net/providers/e2b/provider.hpp"
#include "runtime/base/log.hpp"
#include "tests/support/providers/fake_aio.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <future>
#include <mutex>
#include <vector>

/// Three providers that can be made to fail, and what must hold all the same.
namespace troupe::test {

using namespace troupe::net;
using namespace std::chrono_literals;
using kind = fault::kind;
using steady = std::chrono::steady_clock;

inline const std::string value = "s3cret-of-the-run";

/// Every line that is logged while a test runs.
struct log_catcher {
  static inline std::mutex mutex;
  static inline std::string text;

  log_catcher() {
    text.clear();
    log::connect(take, log::level::debug);
  }
  ~log_catcher() { log::connect(nullptr, log::level::off); }
  static void take(log::level, std::string_view line,
                   log::fields more) noexcept {
    std::lock_guard guard{mutex};
    text += line;
    for (const auto& field : more) {
      text += field.name;
      text += field.value;
    }
  }
  static std::string all() {
    std::lock_guard guard{mutex};
    return text;
  }
};

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

inline std::string with_status(std::string_view status, std::string_view body) {
  return "HTTP/1.1 " + std::string{status}
  + "\r\nContent-Type: application/json\r\nContent-Length: "
    + std::to_string(body.size()) + "\r\n\r\n" + std::string{body};
}

inline fault raw(std::string bytes) {
  fault f;
  f.what = kind::raw;
  f.bytes = std::move(bytes);
  return f;
}

/// One provider: its stand-in, our side of it, and where faults can happen.
struct place {
  std::string name;
  backend_kind where = backend_kind::e2b;
  stand_in* server = nullptr;
  std::function<int()> alive;
  std::vector<std::string> phases; // paths: while creating, while running
  std::string key;
  remote_side side;
};

struct fault_house {
  log_catcher logged;
  e2b_stand_in e2b;
  daytona_stand_in daytona;
  aio_stand_in aio;

  std::unique_ptr<place> at_e2b(std::string key = {}) {
    auto p = std::make_unique<place>();
    p->name = "E2B";
    p->where = backend_kind::e2b;
    p->server = &e2b.server();
    p->alive = [this] { return static_cast<int>(e2b.boxes().size()); };
    p->phases = {"/v2/sandboxes", "/execute"};
    p->key = key.empty() ? e2b_stand_in::api_key : key;
    e2b_options o;
    o.api_key = secret{p->key};
    o.api_url = o.sandbox_url = e2b.url();
    p->side.open([o](auto client) { return make_e2b(client, o); }, bounds());
    return p;
  }
  std::unique_ptr<place> at_daytona() {
    auto p = std::make_unique<place>();
    p->name = "Daytona";
    p->where = backend_kind::daytona;
    p->server = &daytona.server();
    p->alive = [this] { return daytona.alive(); };
    p->phases = {"/api/sandbox", "/toolbox/"};
    p->key = daytona_stand_in::api_key;
    daytona_options o;
    o.api_key = secret{p->key};
    o.api_url = daytona.api_url();
    o.poll_first = 5ms;
    o.poll_max = 20ms;
    p->side.open([o](auto client) { return make_daytona(client, o); },
                 bounds());
    return p;
  }
  std::unique_ptr<place> at_aio() {
    auto p = std::make_unique<place>();
    p->name = "AIO";
    p->where = backend_kind::aio;
    p->server = &aio.server();
    p->alive = [this] { return aio.directories(); };
    p->phases = {"/v1/bash/exec", "/v1/file/write"};
    p->key = aio_stand_in::api_key;
    aio_options o;
    o.host = "127.0.0.1";
    o.port = aio.port();
    o.api_key = secret{p->key};
    p->side.open([o](auto client) { return make_aio(client, o); }, bounds());
    return p;
  }
  static provider_limits bounds() {
    provider_limits o;
    o.leases.destroy_timeout = 2s;
    o.leases.forget_after = 0s; // a stand-in's list is never late
    return o;
  }

  prepared_run run_at(const place& p, std::chrono::milliseconds limit) {
    auto r = python_run(p.where, "def tool():\n  return 1\n");
    r.env.emplace("TOKEN", secret{value});
    r.deadline = steady::now() + limit;
    return r;
  }

  struct begun_run {
    std::shared_ptr<waiting_observer> watcher;
    steady::time_point latest_end;
  };
  begun_run begin(place& p, std::chrono::milliseconds limit) {
    const auto latest_end = steady::now() + limit + 3s;
    return {p.side.begin(run_at(p, limit)), latest_end};
  }

  /// In time, nothing told, nothing left. The outcome is the caller's to judge.
  run_outcome survive(place& p, std::chrono::milliseconds limit = 10s) {
    return check_survived(p, end_in_time(p, begin(p, limit)));
  }
  static run_outcome end_in_time(place& p, const begun_run& run) {
    auto outcome = run.watcher->wait();
    p.side.rest();
    BOOST_TEST((steady::now() < run.latest_end), p.name);
    return outcome;
  }
  static run_outcome check_survived(place& p, run_outcome outcome) {
    if (!outcome.answer) {
      const auto& text = outcome.answer.error().text;
      BOOST_TEST(!text.empty());
      BOOST_TEST(!contains(text, value), text);
      BOOST_TEST(!contains(text, p.key), text);
    }
    // What could not be ended at once is still being tried, or found again.
    auto until = steady::now() + 30s;
    while (!is_clean(p) && steady::now() < until)
      reconcile(p);
    BOOST_TEST(p.alive() == 0);
    BOOST_TEST(p.side.leases->list(p.where).empty());
    BOOST_TEST(!contains(log_catcher::all(), value));
    BOOST_TEST(!contains(log_catcher::all(), p.key));
    return outcome;
  }
  static bool is_clean(place& p) {
    return p.alive() == 0 && p.side.leases->list(p.where).empty();
  }
  static void reconcile(place& p) {
    auto done = std::make_shared<std::promise<void>>();
    p.side.backend->reconcile(false, [done](auto) { done->set_value(); });
    done->get_future().wait();
  }
  /// The same of faults that last until the deadline: at all providers at once.
  void everywhere_until(const fault& what, std::chrono::milliseconds limit) {
    std::array places{at_e2b(), at_daytona(), at_aio()};
    for (std::size_t phase : {0u, 1u}) {
      std::vector<begun_run> runs;
      for (auto& p : places) {
        auto f = what;
        f.path = p->phases[phase];
        p->server->add_fault(f);
        runs.push_back(begin(*p, limit));
      }
      std::vector<run_outcome> outcomes;
      for (std::size_t i = 0; i < places.size(); ++i)
        outcomes.push_back(end_in_time(*places[i], runs[i]));
      for (std::size_t i = 0; i < places.size(); ++i)
        BOOST_TEST_CONTEXT(places[i]->name << " at "
                                           << places[i]->phases[phase]) {
          check_survived(*places[i], outcomes[i]);
        }
    }
  }
  /// Everywhere, while creating and while running.
  void everywhere(const fault& what, std::chrono::milliseconds limit = 10s) {
    for (auto& p : {at_e2b(), at_daytona(), at_aio()})
      for (const auto& path : p->phases)
        BOOST_TEST_CONTEXT(p->name << " at " << path) {
          auto f = what;
          f.path = path;
          p->server->add_fault(f);
          survive(*p, limit);
        }
  }
};

} // namespace troupe::test
