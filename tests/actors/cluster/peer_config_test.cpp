// A peer carries out what this machine would have carried out.
#include "tests/actors/troop.hpp"
#include "tests/support/engine/kept_engine.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(peer_config_suite)

namespace {

using mode = scripted_backend::mode;

/// A front and a worker that keep configs, and what the worker is given.
struct two_nodes : troop {
  tests::temporary_directory of_a, of_b;
  prepared_run seen;

  explicit two_nodes(isolation_level of_front_runs
                     = isolation_level::standard) {
    engine_options there;
    BOOST_REQUIRE(keep_in(of_b.path(), there).has_value());
    there.rules.inherited.emplace("PATH_OF_B", secret{"b"});
    add_worker("worker", mode::answer, std::move(there));
    workers[0]->local->set_script(
      [this](const prepared_run& run, run_observer&) {
        seen = run;
        return run_outcome{scripted_backend::answer_for(run), true};
      });
    BOOST_REQUIRE(keep_in(of_a.path(), of_front).has_value());
    of_front.rules.isolation = of_front.rules.weakest = of_front_runs;
    open_and_meet_all();
  }

  engine& a() { return front->engine(); }
  engine& b() { return workers[0]->engine(); }

  static change_reply change(engine& of, catalog_change what) {
    answer<change_reply> box;
    of.change(someone(), std::move(what), box.handle());
    auto reply = box.get();
    BOOST_REQUIRE_MESSAGE(reply.has_value(), why(reply));
    return std::move(*reply);
  }
  /// Makes the config of local runs there; its id.
  static config_id put(engine& of, json::object config) {
    put_config what;
    config_defaults standard;
    standard.sandbox_dir = "/standard";
    what.config = *normalize_config(backend_kind::local, config, standard,
                                    unknown_members::refuse);
    change(of, what);
    return of.snapshot()
      ->find(default_organization())
      ->configs_by_type.at(backend_kind::local);
  }
  static void put(engine& of, const config_id& config, std::string name,
                  std::string value) {
    put_variable what;
    what.config = config;
    what.key = std::move(name);
    what.value = secret{std::move(value)};
    change(of, what);
  }
  static void put_agents(engine& of, std::string name, std::string value) {
    put_agent_variables what;
    what.agent_id = "agent-1";
    what.values.emplace(std::move(name), secret{std::move(value)});
    change(of, what);
  }
  std::string value(const std::string& name) const {
    auto i = seen.env.find(name);
    return i == seen.env.end() ? "none" : i->second.reveal();
  }
  void run(run_request what) {
    auto r = front->run(std::move(what));
    BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(gets_the_variables_that_a_run_of_this_machine_gets) {
  two_nodes n;
  auto here = n.put(n.a(), {});
  auto there = n.put(n.b(), {});
  n.put(n.a(), here, "WHERE", "A");
  n.put(n.a(), here, "ONLY_A", "A");
  n.put(n.b(), there, "WHERE", "B");
  n.put(n.b(), there, "ONLY_B", "B");
  n.put_agents(n.a(), "AGENTS", "A");
  n.put_agents(n.b(), "AGENTS", "B");
  n.put_agents(n.b(), "AGENTS_OF_B", "B");
  auto request = for_peers();
  request.agent_id = "agent-1";
  request.env.emplace("RUNS", secret{"run"});
  n.run(request);
  BOOST_TEST(n.value("WHERE") == "A");
  BOOST_TEST(n.value("ONLY_A") == "A");
  BOOST_TEST(n.value("ONLY_B") == "none"); // is nobody's here
  BOOST_TEST(n.value("AGENTS") == "A");
  BOOST_TEST(n.value("AGENTS_OF_B") == "none");
  BOOST_TEST(n.value("RUNS") == "run");
  BOOST_TEST(n.value("PATH_OF_B") == "b"); // of the machine, for all its runs
}

BOOST_AUTO_TEST_CASE(gets_the_packages_and_limits_of_the_config_here) {
  two_nodes n;
  n.put(n.a(),
        {{"pip_requirements", json::array{{{"name", "numpy"}}}},
         {"limits", {{"memory_bytes", 64u << 20}}},
         {"use_venv", true},
         {"venv_name", "ours"}});
  n.put(n.b(),
        {{"pip_requirements", json::array{{{"name", "torch"}}}},
         {"limits", {{"memory_bytes", 32u << 20}}},
         {"sandbox_dir", "/of/b"}});
  n.run(for_peers());
  BOOST_REQUIRE(n.seen.pip_requirements.size() == 1u);
  BOOST_TEST(n.seen.pip_requirements[0].name == "numpy");
  BOOST_TEST(n.seen.limits.memory_bytes == 64u << 20);
  auto config = as_local(config_of(n.seen).config);
  BOOST_REQUIRE(config.has_value());
  BOOST_TEST(config->use_venv);
  BOOST_TEST(config->venv_name == "ours");
  BOOST_TEST(config->sandbox_dir != "/of/b");
}

BOOST_AUTO_TEST_CASE(may_be_named_together_with_a_config_of_local_runs) {
  two_nodes n;
  auto id = n.put(n.a(), {});
  n.put(n.a(), id, "WHERE", "A");
  auto request = for_peers();
  request.config = id;
  n.run(request);
  BOOST_TEST(n.value("WHERE") == "A");
  request.backend.reset(); // peers are the standard here
  n.seen = {};
  n.run(request);
  BOOST_TEST(n.value("WHERE") == "A");
}

/// The caller has said nothing of isolation, and can do nothing about it.
BOOST_AUTO_TEST_CASE(is_separated_no_less_than_the_runs_of_the_node_it_is_at) {
  two_nodes n{isolation_level::best_effort};
  n.run(for_peers());
  BOOST_TEST((n.seen.isolation == isolation_level::standard));
}

BOOST_AUTO_TEST_CASE(is_explained_with_the_variables_it_would_get) {
  two_nodes n;
  n.put(n.a(), n.put(n.a(), {}), "WHERE", "A");
  answer<explanation> box;
  n.a().explain(someone(), for_peers(), box.handle());
  auto told = box.get();
  BOOST_REQUIRE_MESSAGE(told.has_value(), why(told));
  BOOST_TEST(std::ranges::any_of(told->variables, [](const auto& origin) {
    return origin.first == "WHERE" && origin.second == "config";
  }));
}

BOOST_AUTO_TEST_SUITE_END()
