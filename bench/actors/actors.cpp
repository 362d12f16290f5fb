#include "actors/caf/actor_system.hpp"
#include "actors/caf/request.hpp"
#include "actors/caf/request_router.hpp"
#include "actors/protocol/messages.hpp"
#include "bench/actors/fair.hpp"
#include "bench/actors/load_driver.hpp"
#include "bench/actors/local.hpp"
#include "bench/actors/recorded.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

/// What the engine itself costs per run: gateway, dispatcher, executor and the
/// record, in front of a backend that answers at once.
namespace troupe::bench {

namespace {

using echo_actor
  = caf::typed_actor<caf::replies_to<run_atom, execution>::with<run_answer>>;

echo_actor::behavior_type echo(echo_actor::pointer,
                               std::shared_ptr<const run_result> answer) {
  return {[answer](run_atom, const execution&) {
    run_answer a;
    a.result = answer;
    return a;
  }};
}

/// An actor that asks another one by `request().then()`, as CAF's manual does.
struct asker_state {
  std::size_t left = 0;
};
using asker_actor = caf::typed_actor<caf::reacts_to<start_atom>>;

asker_actor::behavior_type
asker(asker_actor::stateful_pointer<asker_state> self, echo_actor to,
      std::size_t pending, std::size_t count, std::promise<void>* all) {
  self->state.left = count;
  auto request = std::make_shared<const run_request>(example());
  auto issued = std::make_shared<std::size_t>(0);
  auto ask = std::make_shared<std::function<void()>>();
  *ask = [=] {
    ++*issued;
    execution what;
    what.request = request;
    self->request(to, caf::infinite, run_v, std::move(what))
      .then(
        [=](const run_answer&) {
          if (--self->state.left == 0) {
            all->set_value();
            self->quit();
          } else if (*issued < count) {
            (*ask)();
          }
        },
        [](caf::error&) {});
  };
  return {[=](start_atom) {
    for (std::size_t i = 0; i < std::min(pending, count); ++i)
      (*ask)();
  }};
}

// -- the path alone ----------------------------------------------------------

using hollow_executor = caf::typed_actor<caf::reacts_to<start_atom, attempt>>;
using hollow_dispatcher = caf::typed_actor<
  caf::replies_to<run_atom, active_run_ptr>::with<run_answer>,
  caf::reacts_to<ended_atom, attempt_result>>;

/// A dispatcher's messages without its work: who waits, and for what.
struct hollow_state {
  std::unordered_map<std::uint32_t, caf::typed_response_promise<run_answer>>
    waiting;
  std::uint32_t last = 0;
};

hollow_executor::behavior_type
hollow_end(hollow_executor::pointer self,
           std::shared_ptr<run_outcome> outcome) {
  return {[=](start_atom, attempt& what) {
    auto home = caf::actor_cast<hollow_dispatcher>(self->current_sender());
    self->send(home, ended_v,
               attempt_result{std::move(what.run), what.number, outcome});
  }};
}

hollow_dispatcher::behavior_type
hollow_middle(hollow_dispatcher::stateful_pointer<hollow_state> self,
              hollow_executor next, std::shared_ptr<const run_result> answer) {
  return {
    [=](run_atom, active_run_ptr& run) -> caf::result<run_answer> {
      auto promise = self->make_response_promise<run_answer>();
      const auto number = ++self->state.last;
      self->state.waiting.emplace(number, promise);
      self->send(next, start_v, attempt{std::move(run), nullptr, number});
      return promise;
    },
    [=](ended_atom, attempt_result& end) {
      run_answer a;
      a.result = answer;
      self->state.waiting.extract(end.number).mapped().deliver(std::move(a));
    },
  };
}

struct bare_caf {
  system_config config{default_thread_count()};
  caf::actor_system system{config};
  request_router router{system};
  std::shared_ptr<const run_request> request
    = std::make_shared<const run_request>(example());
  echo_actor to
    = system.spawn(echo, std::make_shared<const run_result>(run_result{}));

  hollow_executor end = system.spawn(
    hollow_end, std::make_shared<run_outcome>(run_outcome{run_result{}, true}));
  hollow_dispatcher middle = system.spawn(
    hollow_middle, end, std::make_shared<const run_result>(run_result{}));

  ~bare_caf() {
    caf::anon_send_exit(to, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(middle, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(end, caf::exit_reason::user_shutdown);
    router.shutdown();
  }

  template <class Handle, class What>
  cost by_router(const Handle& whom, const What& what, std::size_t pending,
                 std::size_t count) {
    return measure(
      pending, count, [this, whom, what](std::function<void()> done) {
        auto finish = [done = std::move(done)](result<run_answer>) { done(); };
        ask<run_answer>(router, 0, whom, std::move(finish), run_v, what);
      });
  }
  cost by_router(std::size_t pending, std::size_t count) {
    execution what;
    what.request = request;
    return by_router(to, what, pending, count);
  }
  cost by_path(std::size_t pending, std::size_t count) {
    return by_router(middle, active_run_ptr{}, pending, count);
  }

  cost by_request(std::size_t pending, std::size_t count) {
    std::promise<void> all;
    const auto cpu = cpu_seconds();
    const auto began = clock::now();
    auto a = system.spawn(asker, to, pending, count, &all);
    caf::anon_send(a, start_v);
    all.get_future().wait();
    cost c;
    const auto n = static_cast<double>(count);
    c.wall_us
      = std::chrono::duration<double, std::micro>(clock::now() - began).count()
      / n;
    c.cpu_us = (cpu_seconds() - cpu) * 1e6 / n;
    return c;
  }
};

/// Two threads that throw a call back and forth.
struct bare_asio {
  boost::asio::io_context there, back;
  std::vector<std::thread> workers;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    keep_there{there.get_executor()}, keep_back{back.get_executor()};

  bare_asio() {
    workers.emplace_back([this] { there.run(); });
    workers.emplace_back([this] { back.run(); });
  }
  ~bare_asio() {
    keep_there.reset();
    keep_back.reset();
    for (auto& t : workers)
      t.join();
  }
  cost run(std::size_t pending, std::size_t count) {
    return measure(pending, count, [this](std::function<void()> done) {
      boost::asio::post(there, [this, done = std::move(done)] {
        boost::asio::post(back, done);
      });
    });
  }
};

void run(report& out) {
  prepared_run prepared;
  prepared.args_json = example().args_json;
  constexpr std::size_t calls = 200'000;
  const auto bare = seconds([&] {
    for (std::size_t i = 0; i < calls; ++i)
      keep(instant_backend::carry_out(prepared));
  });
  out.add("actors.function_call", bare * 1e6 / calls, "us");

  bare_caf caf_side;
  bare_asio asio_side;
  whole_engine engine_side{engine_options{}};
  for (std::size_t pending : {1u, 64u, 1'000u, 10'000u, 100'000u}) {
    // So many that most of them begin while as many are pending as it says.
    const auto count
      = pending == 1 ? 10'000 : std::max<std::size_t>(30'000, 3 * pending);
    constexpr int rounds = 3;
    std::vector<cost> engine, router, path, request, asio;
    for (int i = 0; i < rounds; ++i) {
      engine.push_back(engine_side.run(pending, count));
      router.push_back(caf_side.by_router(pending, count));
      path.push_back(caf_side.by_path(pending, count));
      // Its table is linear in the pending ones: more would take for ever.
      if (pending <= 1'000)
        request.push_back(caf_side.by_request(pending, count));
      asio.push_back(asio_side.run(pending, count));
    }
    auto middle = [](std::vector<cost> costs) {
      std::sort(costs.begin(), costs.end(), [](const cost& a, const cost& b) {
        return a.cpu_us < b.cpu_us;
      });
      return costs[costs.size() / 2];
    };
    const auto tail = "." + std::to_string(pending);
    line(out, "asio_post" + tail, middle(asio));
    line(out, "caf_router" + tail, middle(router));
    line(out, "path" + tail, middle(path));
    if (!request.empty())
      line(out, "caf_request" + tail, middle(request));
    line(out, "engine" + tail, middle(engine));
    if (pending == 64) {
      out.at_most("actors.engine.overhead_cpu", middle(engine).cpu_us, "us",
                  15);
      out.at_most("actors.engine.p99_at_64", middle(engine).p99_us, "us",
                  1'000);
    }
    if (pending == 1'000) {
      out.at_most("actors.path.vs_request",
                  middle(path).cpu_us / middle(request).cpu_us, "x", 1.5);
      out.add("actors.engine.vs_request",
              middle(engine).cpu_us / middle(request).cpu_us, "x");
    }
  }
  // In turns: the machine is not the same from one minute to the next.
  std::vector<double> few, many;
  for (int i = 0; i < 5; ++i) {
    few.push_back(engine_side.run(1'000, 300'000).cpu_us);
    many.push_back(engine_side.run(100'000, 300'000).cpu_us);
  }
  out.at_most("actors.engine.cpu_100000_vs_1000", median_ratio(many, few), "x",
              1.25);
  out.note("engine: gateway, dispatcher, executor, events, record and audit "
           "line, journal in memory, in front of a backend that answers at "
           "once; path: the engine's messages between the same actors, from "
           "outside to a dispatcher, an executor and back, without the work; "
           "caf_request: request().then() between two actors; caf_router: the "
           "same by a hash map from outside");
}

void run_all(report& out) {
  run(out);
  run_with_a_record(out);
  run_beside_a_flood(out);
  run_through_the_actors(out);
}

area registered{"actors", "messages from the gateway to an executor and back",
                run_all};

} // namespace

} // namespace troupe::bench
