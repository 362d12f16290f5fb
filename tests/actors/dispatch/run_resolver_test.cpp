#include "actors/dispatch/run_resolver.hpp"
#include "runtime/model/codec/fingerprint_forms.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(resolve_suite)

namespace {

/// One organization with one tool and, if wanted, a local config.
struct world {
  organization_catalog catalog;
  run_rules rules;
  run_request request;
  config_views views;
  tool_views tools;

  world() {
    catalog.id = default_organization();
    auto t = std::make_shared<tool>();
    t->id = tool_id::make();
    t->organization = catalog.id;
    t->name = "add";
    t->source_code = "def add(a, b): return a + b";
    t->json_schema = *json::parse_object(R"({"name":"add","parameters":{
      "type":"object","properties":{"a":{"type":"integer"},
      "b":{"type":"integer"}},"required":["a","b"]}})");
    put(t);
    request.organization = catalog.id;
    request.id = run_id::make();
    request.tool_name = "add";
    request.args_json = R"({"a":1,"b":2})";
  }

  void put(std::shared_ptr<tool> t) {
    catalog.tools_by_name[t->name] = t->id;
    catalog.tools[t->id] = std::move(t);
  }
  tool& add() { return const_cast<tool&>(*catalog.tools.begin()->second); }
  void put_config(json::object payload) {
    auto c = std::make_shared<sandbox_config>();
    c->id = config_id::make();
    c->organization = catalog.id;
    c->config = std::move(payload);
    catalog.configs_by_type[c->type] = c->id;
    catalog.configs[c->id] = std::move(c);
  }
  result<resolved_run> look_up() {
    return resolve(request, &catalog, rules, tools);
  }
  result<prepared_run> prepare() {
    auto r = look_up();
    if (!r)
      return r.error();
    auto view = views.find(request, backend_kind::local, &catalog, rules);
    if (!view)
      return view.error();
    if (auto ok = fit(*r->base, *r, request, **view, rules); !ok)
      return ok.error();
    return std::move(*r->base);
  }
};

json::object object(std::string_view text) {
  return *json::parse_object(text);
}

} // namespace

BOOST_AUTO_TEST_CASE(suggests_the_tool_that_was_meant) {
  world w;
  w.request.tool_name = "adds";
  auto found = w.look_up();
  BOOST_TEST_REQUIRE(!found);
  BOOST_TEST((found.error().code == ec::not_found));
  BOOST_TEST(found.error().fields.at(0).hint == "did you mean 'add'?");
  w.request.tool_name = "subtract";
  BOOST_TEST(w.look_up().error().fields.at(0).hint.starts_with("list the"));
}

BOOST_AUTO_TEST_CASE(finds_a_tool_by_name_and_by_id) {
  world w;
  auto run = w.prepare();
  BOOST_REQUIRE(run.has_value());
  BOOST_TEST(run->function == "add");
  BOOST_TEST((run->kind == run_kind::source));
  w.request.tool = w.add().id;
  w.request.tool_name.clear();
  BOOST_TEST(w.prepare().has_value());
  w.request.tool = tool_id::make();
  BOOST_TEST((w.look_up().error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(hands_nulls_and_large_integers_on) {
  world w;
  w.add().json_schema = *json::parse_object(
    R"({"name":"add","parameters":{"type":"object","properties":
       {"a":{"type":"integer"},"b":{"type":"integer"}},"required":["b"]}})");
  w.request.args_json = R"({"a":null,"b":123456789012345678901234567890})";
  auto run = w.look_up();
  BOOST_REQUIRE(run.has_value());
  BOOST_TEST(run->base->args_json == R"({"b":123456789012345678901234567890})");
  BOOST_REQUIRE(run->base->dropped_nulls.size() == 1u);
  BOOST_TEST(run->base->dropped_nulls[0] == "a");
}

BOOST_AUTO_TEST_CASE(reads_a_tool_again_after_it_was_changed) {
  world w;
  const auto before = w.prepare();
  BOOST_REQUIRE(before.has_value());
  auto changed = std::make_shared<tool>(w.add());
  changed->source_code = "def plus(a): return a";
  changed->json_schema = *json::parse_object(
    R"({"name":"plus","parameters":{"type":"object","required":["c"]}})");
  changed->metadata = *json::parse_object(R"({"sandbox":"e2b"})");
  w.put(changed);
  BOOST_TEST(!w.look_up().has_value()); // "c" is missing now
  w.request.args_json = R"({"c":1})";
  auto after = w.look_up();
  BOOST_REQUIRE(after.has_value());
  BOOST_TEST(after->base->function == "plus");
  BOOST_TEST(after->base->source == changed->source_code);
  BOOST_TEST(after->base->json_schema != before->json_schema);
  BOOST_TEST((after->wish.of_tool == backend_kind::e2b));
}

BOOST_AUTO_TEST_CASE(fits_one_run_for_two_backends) {
  world w;
  w.add().pip_requirements.push_back(pip_requirement{"numpy", {}, "==2.0"});
  auto r = w.look_up();
  BOOST_REQUIRE(r.has_value());
  for (auto kind : {backend_kind::e2b, backend_kind::local}) {
    auto view = w.views.find(w.request, kind, &w.catalog, w.rules);
    BOOST_REQUIRE(view.has_value());
    BOOST_REQUIRE(fit(*r->base, *r, w.request, **view, w.rules).has_value());
    BOOST_TEST((r->base->config->type == kind));
    BOOST_TEST(r->base->pip_requirements.size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(calls_a_run_without_a_tool_by_its_own_uuid) {
  world w;
  w.request.kind = run_kind::source;
  w.request.source = "def f(): pass";
  const auto r = w.look_up();
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(r->tool.str().substr(5) == w.request.id.str().substr(4));
  BOOST_TEST(is_id("tool", r->tool.str()));
}

BOOST_AUTO_TEST_CASE(points_at_every_wrong_argument) {
  world w;
  w.request.args_json = R"({"a":"one"})";
  auto bad = w.look_up();
  BOOST_REQUIRE(!bad.has_value());
  BOOST_TEST((bad.error().code == ec::invalid_request));
  BOOST_TEST(bad.error().fields.size() == 2u);
  for (const auto& field : bad.error().fields)
    BOOST_TEST(field.pointer.starts_with("/args"));
}

// By a request's word or by the tool's: nobody else finds it lenient.
BOOST_AUTO_TEST_CASE(binds_leniently_where_that_is_wanted) {
  world w;
  w.request.args_json = R"({"a":"1","b":2.5,"c":3})";
  BOOST_TEST(!w.look_up());
  w.request.lenient_arguments = true;
  auto found = w.look_up();
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(found->base->args_json == R"({"a":1,"b":2})");
  BOOST_TEST(found->base->lenient_arguments); // a peer binds them once more
  w.request.lenient_arguments = false;
  auto t = std::make_shared<tool>(w.add());
  t->metadata[lenient_mark] = true;
  w.put(t);
  BOOST_TEST(w.look_up().has_value());
  t = std::make_shared<tool>(w.add());
  t->metadata[lenient_mark] = "yes";
  w.put(t);
  BOOST_TEST(!w.look_up());
}

BOOST_AUTO_TEST_CASE(uses_defaults_that_are_not_stored) {
  world w;
  auto run = w.prepare();
  BOOST_REQUIRE(run.has_value());
  BOOST_TEST(run->config->id.empty());
  BOOST_TEST(!run->config->config.empty());
}

BOOST_AUTO_TEST_CASE(lets_the_strictest_limit_win) {
  world w;
  w.rules.ceiling.wall = 60s;
  w.request.limits.wall = 500s;
  BOOST_TEST((w.prepare()->limits.wall == 60s));
  w.put_config(object(R"({"limits":{"wall_seconds":10}})"));
  auto run = w.prepare();
  BOOST_REQUIRE_MESSAGE(run.has_value(), to_string(run.error()));
  BOOST_TEST((run->limits.wall == 10s));
  w.request.limits.wall = 2s;
  BOOST_TEST((w.prepare()->limits.wall == 2s));
}

BOOST_AUTO_TEST_CASE(lets_the_strictest_network_policy_win) {
  world w;
  w.add().metadata["network"] = "off";
  network_policy open;
  w.request.network = open;
  auto run = w.prepare();
  BOOST_REQUIRE(run.has_value());
  BOOST_TEST((run->network.mode == network_mode::off));
}

BOOST_AUTO_TEST_CASE(refuses_less_isolation_than_demanded) {
  world w;
  w.request.isolation = isolation_level::off;
  auto bad = w.prepare();
  BOOST_REQUIRE(!bad.has_value());
  BOOST_TEST(bad.error().fields[0].pointer == "/isolation");
  w.request.isolation = isolation_level::strict;
  BOOST_TEST((w.prepare()->isolation == isolation_level::strict));
}

BOOST_AUTO_TEST_CASE(takes_the_place_that_the_tool_or_the_config_asks_for) {
  world w;
  w.add().metadata["sandbox"] = "modal";
  auto r = w.look_up();
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST((r->wish.of_tool == backend_kind::modal));
  w.put_config({});
  w.request.config = w.catalog.configs.begin()->first;
  BOOST_TEST((w.look_up()->wish.of_run == backend_kind::local));
  w.request.backend = backend_kind::e2b;
  BOOST_TEST((w.look_up().error().code == ec::invalid_request));
}

BOOST_AUTO_TEST_CASE(fingerprints_a_config_as_the_replaced_system_does) {
  world w;
  w.put_config(object(R"({"use_venv":false})"));
  auto view = w.views.find(w.request, backend_kind::local, &w.catalog, w.rules);
  BOOST_REQUIRE(view.has_value());
  const auto& config = *w.catalog.configs.begin()->second;
  BOOST_TEST(decimal_fingerprint((*view)->fingerprint) == fingerprint(config));
  auto again
    = w.views.find(w.request, backend_kind::local, &w.catalog, w.rules);
  BOOST_TEST((*again == *view)); // the same object: remembered
}

BOOST_AUTO_TEST_SUITE_END()
