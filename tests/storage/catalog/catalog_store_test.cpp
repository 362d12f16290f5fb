#include "runtime/model/codec/codec.hpp"
#include "storage/catalog/catalog_store.hpp"
#include "storage/records/record_format.hpp"
#include "tests/storage/catalog_fixture.hpp"

using namespace troupe;
using namespace troupe::tests;

BOOST_FIXTURE_TEST_SUITE(catalog_store_suite, store_fixture)

// -- tools --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(creates_a_tool_and_finds_it_after_a_restart) {
  auto t = make_tool("search", "def search(): pass");
  t.tags = {"web"};
  t.json_schema = json::object{{"name", "search"}};
  t.pip_requirements = {{"requests", {}, "==2.31.0"}};
  auto made = change(alice, put_tool{t, true});
  BOOST_TEST(made.created);
  BOOST_TEST(is_id("tool", made.tool->id.str()));
  BOOST_TEST(made.tool->organization.str() == "org-a");
  BOOST_TEST(made.tool->created_by == "user-alice");
  auto before = to_json(*made.tool);
  reopen();
  auto again = of(alice).tools.at(made.tool->id);
  BOOST_TEST((to_json(*again) == before));
  BOOST_TEST(of(alice).tools_by_name.at("search").str() == made.tool->id.str());
}

BOOST_AUTO_TEST_CASE(replaces_the_tool_of_a_name_and_keeps_its_birth) {
  auto t = make_tool("search", "old");
  t.tags = {"web"};
  t.description = "finds";
  auto first = *change(alice, put_tool{t}).tool;
  auto second = change(bob, put_tool{make_tool("search", "bob's")});
  BOOST_TEST(second.created); // names belong to organizations
  auto replaced = change(alice, put_tool{make_tool("search", "new")});
  BOOST_TEST(!replaced.created);
  BOOST_TEST(replaced.tool->id.str() == first.id.str());
  BOOST_TEST((replaced.tool->created_at == first.created_at));
  BOOST_TEST((replaced.tool->updated_at > first.updated_at));
  BOOST_TEST(replaced.tool->revision == 2u);
  BOOST_TEST(replaced.tool->source_code == "new");
  BOOST_TEST(replaced.tool->description == ""); // back to the default
  BOOST_TEST(replaced.tool->tags.size() == 1u); // none given: they stay
}

BOOST_AUTO_TEST_CASE(writes_nothing_when_nothing_changes) {
  auto t = make_tool("search", "same");
  auto first = change(alice, put_tool{t}).tool;
  auto config = this->config(alice);
  auto variable
    = change(alice, put_variable{config, "KEY", secret{"v"}, "d"}).variable;
  change(alice, put_agent_variables{"agent-1", {{"K", secret{"v"}}}});
  auto before = version();
  BOOST_TEST((change(alice, put_tool{t}).tool == first));
  tool same = *first;
  BOOST_TEST((change(alice, update_tool{same, {}}).tool == first));
  this->config(alice);
  change(alice,
         put_config{backend_kind::local, of(alice).configs.at(config)->config});
  BOOST_TEST(
    (change(alice, put_variable{config, "KEY", secret{"v"}, ""}).variable
     == variable));
  change(alice, update_variable{variable->about.id, "KEY", secret{"v"}, "d"});
  change(alice, put_agent_variables{"agent-1", {{"K", secret{"v"}}}});
  BOOST_TEST(version() == before);
}

BOOST_AUTO_TEST_CASE(updates_and_renames_a_tool) {
  auto first = *change(alice, put_tool{make_tool("one")}).tool;
  change(alice, put_tool{make_tool("two")});
  auto t = first;
  t.name = "two";
  BOOST_TEST((code_of(apply(alice, update_tool{t, {}})) == ec::conflict));
  t.name = "three";
  BOOST_TEST((code_of(apply(alice, update_tool{t, 7})) == ec::conflict));
  auto renamed = change(alice, update_tool{t, first.revision});
  BOOST_TEST(renamed.tool->revision == 2u);
  BOOST_TEST(!of(alice).tools_by_name.contains("one"));
  BOOST_TEST(of(alice).tools_by_name.at("three").str() == first.id.str());
  change(alice, put_tool{make_tool("one")}); // free again
  reopen();
  BOOST_TEST(of(alice).tools.size() == 3u);
}

BOOST_AUTO_TEST_CASE(replaces_and_deletes_only_the_revision_that_is_meant) {
  auto stale = [&](const catalog_change& what) {
    auto refused = apply(alice, what);
    BOOST_TEST((code_of(refused) == ec::conflict));
    return refused.error().fields.at(0).pointer == revision_pointer;
  };
  auto t = *change(alice, put_tool{make_tool("one")}).tool;
  BOOST_TEST(stale(put_tool{make_tool("one", "new"), false, 7}));
  BOOST_TEST(stale(put_tool{make_tool("none"), false, 7}));
  BOOST_TEST(stale(delete_tool{t.id, 7}));
  change(alice, put_tool{make_tool("one", "new"), false, t.revision});
  BOOST_TEST(stale(delete_tool{t.id, t.revision}));
  change(alice, delete_tool{t.id, t.revision + 1});
  auto c = config(alice);
  BOOST_TEST(stale(put_config{backend_kind::local, {}, 7}));
  BOOST_TEST(stale(delete_config{c, 7}));
  change(alice, delete_config{c, 1});
}

BOOST_AUTO_TEST_CASE(refuses_a_tool_that_must_be_new) {
  change(alice, put_tool{make_tool("search")});
  BOOST_TEST((code_of(apply(alice, put_tool{make_tool("search"), true}))
              == ec::conflict));
  BOOST_TEST(
    (code_of(apply(alice, put_tool{make_tool("")})) == ec::invalid_request));
  auto huge = make_tool("huge", std::string(5u << 20, 'x'));
  BOOST_TEST((code_of(apply(alice, put_tool{huge})) == ec::invalid_request));
}

// P12
BOOST_AUTO_TEST_CASE(answers_the_same_for_foreign_and_unknown_ids) {
  auto t = *change(alice, put_tool{make_tool("mine")}).tool;
  auto c = config(alice);
  auto v = change(alice, put_variable{c, "K", secret{"v"}, ""}).variable;
  auto k = change(alice, put_key{make_key("h")}).key;
  auto unknown_tool = tool_id::make();
  auto text = [&](const catalog_change& what, const std::string& id) {
    auto refused = apply(bob, what);
    BOOST_TEST((code_of(refused) == ec::not_found));
    auto said = text_of(refused);
    return said.replace(said.find(id), id.size(), "ID");
  };
  tool foreign = t;
  tool unknown = t;
  unknown.id = unknown_tool;
  BOOST_TEST(text(update_tool{foreign, {}}, t.id.str())
             == text(update_tool{unknown, {}}, unknown_tool.str()));
  BOOST_TEST(text(delete_tool{t.id}, t.id.str())
             == text(delete_tool{unknown_tool}, unknown_tool.str()));
  auto no_config = config_id::make();
  BOOST_TEST(
    text(put_variable{c, "X", secret{"v"}, ""}, c.str())
    == text(put_variable{no_config, "X", secret{"v"}, ""}, no_config.str()));
  text(update_config{c, {}, {}, {}}, c.str());
  text(delete_config{c}, c.str());
  text(update_variable{v->about.id, {}, secret{"stolen"}, {}},
       v->about.id.str());
  text(delete_variable{v->about.id}, v->about.id.str());
  text(delete_key{k->id}, k->id.str());
  BOOST_TEST(value_of(*of(alice).variables_by_id.at(v->about.id)) == "v");
  change(alice, delete_tool{t.id});
  BOOST_TEST(of(alice).tools.empty());
  BOOST_TEST(of(alice).tools_by_name.empty());
}

// -- configs ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(keeps_one_config_per_type) {
  options.catalog.defaults.venv_name = "env";
  reopen();
  auto local = change(alice, default_config{backend_kind::local});
  BOOST_TEST(local.config->config.at("use_venv") == true);
  BOOST_TEST(local.config->config.at("venv_name") == "env");
  BOOST_TEST(local.created);
  BOOST_TEST(is_id("sandbox", local.config->id.str()));
  BOOST_TEST((local.config->config.at("sandbox_dir") == "/sandbox"));
  auto same = change(alice, default_config{backend_kind::local});
  BOOST_TEST(!same.created);
  BOOST_TEST((same.config == local.config));
  auto replaced
    = change(alice, put_config{backend_kind::local, {{"use_venv", true}}});
  BOOST_TEST(!replaced.created);
  BOOST_TEST(replaced.config->id.str() == local.config->id.str());
  BOOST_TEST((replaced.config->created_at == local.config->created_at));
  BOOST_TEST(replaced.config->revision == 2u);
  BOOST_TEST((replaced.config->config == json::object{{"use_venv", true}}));
  BOOST_TEST(change(alice, default_config{backend_kind::e2b}).created);
  BOOST_TEST(change(bob, default_config{backend_kind::local}).created);
  reopen();
  BOOST_TEST(of(alice).configs.size() == 2u);
  BOOST_TEST(of(bob).configs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(names_both_types_when_an_update_is_of_another) {
  auto id = config(alice);
  auto refused
    = apply(alice, update_config{id, {{"timeout", 5}}, {}, backend_kind::e2b});
  BOOST_TEST((code_of(refused) == ec::invalid_request));
  BOOST_TEST(contains(text_of(refused), "e2b"));
  BOOST_TEST(contains(text_of(refused), "local"));
  auto updated = change(
    alice, update_config{id, {{"use_venv", true}}, 1, backend_kind::local});
  BOOST_TEST(updated.config->revision == 2u);
  auto late = apply(alice, update_config{id, {{"use_venv", false}}, 1, {}});
  BOOST_TEST((code_of(late) == ec::conflict));
  BOOST_TEST(contains(text_of(late), "revision is 2, not 1"));
}

BOOST_AUTO_TEST_CASE(deletes_a_config_with_its_variables) {
  auto local = config(alice);
  auto e2b = config(alice, backend_kind::e2b);
  change(alice, put_variable{local, "A", secret{"1"}, ""});
  change(alice, put_variable{local, "B", secret{"2"}, ""});
  change(alice, put_variable{e2b, "A", secret{"3"}, ""});
  change(alice, delete_config{local});
  for (int round = 0; round < 2; ++round) {
    BOOST_TEST(of(alice).variables.size() == 1u);
    BOOST_TEST(of(alice).variables_by_id.size() == 1u);
    BOOST_TEST(of(alice).configs_by_type.size() == 1u);
    BOOST_TEST(value_of(*of(alice).variables.at(e2b).at("A")) == "3");
    reopen();
  }
  BOOST_TEST(content(*kept.db, column::variables).size() == 1u);
}

// -- variables ----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(keeps_a_variable_sealed_and_replaces_it_by_name) {
  auto c = config(alice);
  auto made = change(alice, put_variable{c, "TOKEN", secret{"one"}, "why"});
  BOOST_TEST(made.created);
  BOOST_TEST(!contains(made.variable->sealed, "one"));
  BOOST_TEST(value_of(*made.variable) == "one");
  auto replaced = change(alice, put_variable{c, "TOKEN", secret{"two"}, ""});
  BOOST_TEST(!replaced.created);
  BOOST_TEST(replaced.variable->about.id.str()
             == made.variable->about.id.str());
  BOOST_TEST(replaced.variable->about.description == "why");
  BOOST_TEST(
    (replaced.variable->about.created_at == made.variable->about.created_at));
  BOOST_TEST(must(read_sealed_header(replaced.variable->sealed)).record_version
             == 2u);
  reopen();
  BOOST_TEST(of(alice).variables.at(c).size() == 1u);
  BOOST_TEST(value_of(*of(alice).variables.at(c).at("TOKEN")) == "two");
  change(alice, put_variable{c, "EMPTY", secret{""}, ""});
  BOOST_TEST(value_of(*of(alice).variables.at(c).at("EMPTY")) == "");
}

BOOST_AUTO_TEST_CASE(renames_a_variable_but_not_onto_another) {
  auto c = config(alice);
  auto a = change(alice, put_variable{c, "A", secret{"1"}, ""}).variable;
  change(alice, put_variable{c, "B", secret{"2"}, ""});
  BOOST_TEST((code_of(apply(alice, update_variable{a->about.id, "B", {}, {}}))
              == ec::conflict));
  change(alice, update_variable{a->about.id, "C", {}, {}});
  reopen();
  BOOST_TEST(!of(alice).variables.at(c).contains("A"));
  BOOST_TEST(value_of(*of(alice).variables.at(c).at("C")) == "1");
  change(alice, delete_variable{a->about.id});
  BOOST_TEST(!of(alice).variables.at(c).contains("C"));
}

BOOST_AUTO_TEST_CASE(refuses_names_and_values_that_would_harm) {
  auto c = config(alice);
  auto v = change(alice, put_variable{c, "GOOD", secret{"x"}, ""}).variable;
  for (const auto& name : {"", "A=B", "LD_PRELOAD", "1A", "A B"}) {
    BOOST_TEST((code_of(apply(alice, put_variable{c, name, secret{"x"}, ""}))
                == ec::invalid_request));
    BOOST_TEST(
      (code_of(apply(alice, update_variable{v->about.id, name, {}, {}}))
       == ec::invalid_request));
  }
  auto nul
    = apply(alice, put_variable{c, "NUL", secret{std::string{"a\0b", 3}}, ""});
  BOOST_TEST((code_of(nul) == ec::invalid_request));
  BOOST_TEST(of(alice).variables.at(c).size() == 1u);
}

BOOST_AUTO_TEST_CASE(replaces_the_whole_set_of_an_agent) {
  put_agent_variables first{"agent-1",
                            {{"A", secret{"1"}}, {"B", secret{"2"}}}};
  BOOST_TEST(change(alice, first).created);
  auto unchanged = of(alice).agent_variables.at("agent-1").at("B");
  put_agent_variables second{"agent-1",
                             {{"B", secret{"2"}}, {"C", secret{"3"}}}};
  auto reply = change(alice, second);
  BOOST_TEST(reply.agent_variables.size() == 2u);
  BOOST_TEST((of(alice).agent_variables.at("agent-1").at("B") == unchanged));
  put_agent_variables more{"agent-1", {{"D", secret{"4"}}}, false};
  BOOST_TEST(change(alice, more).agent_variables.size() == 3u);
  reopen();
  const auto& all = of(alice).agent_variables.at("agent-1");
  BOOST_TEST(all.size() == 3u);
  BOOST_TEST(must(kept.seals->open(*all.at("C"))).reveal() == "3");
  change(alice, delete_agent_variable{"agent-1", "C"});
  BOOST_TEST((code_of(apply(alice, delete_agent_variable{"agent-1", "C"}))
              == ec::not_found));
  BOOST_TEST((code_of(apply(bob, delete_agent_variable{"agent-1", "B"}))
              == ec::not_found));
  change(alice, put_agent_variables{"agent-1", {}});
  BOOST_TEST(of(alice).agent_variables.empty());
  reopen();
  BOOST_TEST(content(*kept.db, column::agent_variables).empty());
}

BOOST_AUTO_TEST_CASE(changes_an_agents_set_as_a_whole_or_not_at_all) {
  change(alice, put_agent_variables{"agent-1", {{"A", secret{"1"}}}});
  put_agent_variables half{"agent-1",
                           {{"B", secret{"2"}}, {"LD_PRELOAD", secret{"3"}}}};
  BOOST_TEST((code_of(apply(alice, half)) == ec::invalid_request));
  BOOST_TEST(of(alice).agent_variables.at("agent-1").contains("A"));
  BOOST_TEST(of(alice).agent_variables.at("agent-1").size() == 1u);
}

// -- keys ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(keeps_keys_by_hash_only_and_finds_them_after_a_restart) {
  api_key k;
  k.name = "ci";
  k.hash = "0123abcd";
  k.scopes = 3;
  k.expires_at = at(1000);
  auto made = change(alice, put_key{k}).key;
  BOOST_TEST((code_of(apply(bob, put_key{k})) == ec::conflict));
  reopen();
  auto found = kept.catalog->current()->keys_by_hash.at("0123abcd");
  BOOST_TEST(found->id.str() == made->id.str());
  BOOST_TEST(found->scopes == 3);
  BOOST_TEST((found->expires_at == k.expires_at));
  BOOST_TEST(found->organization.str() == "org-a");
  change(alice, delete_key{made->id});
  reopen();
  BOOST_TEST(kept.catalog->current()->keys_by_hash.empty());
}

BOOST_AUTO_TEST_CASE(deletes_an_organization_and_nothing_else) {
  change(alice, put_tool{make_tool("one")});
  change(bob, put_tool{make_tool("two")});
  api_key k;
  k.id = key_id::make();
  k.name = "ci";
  k.hash = "0123abcd";
  change(alice, put_key{k});
  // On behalf of another one, as an operator does it.
  change(bob, delete_organization{alice.organization});
  for (auto again : {false, true}) {
    if (again)
      reopen();
    auto seen = kept.catalog->current();
    BOOST_TEST(!seen->find(alice.organization));
    BOOST_TEST(seen->keys_by_hash.empty());
    BOOST_TEST(seen->find(bob.organization)->tools.size() == 1u);
  }
  BOOST_TEST((code_of(apply(bob, delete_organization{alice.organization}))
              == ec::not_found));
  change(alice, put_tool{make_tool("anew")});
  BOOST_TEST(kept.catalog->current()->find(alice.organization)->tools.size()
             == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
