// Contexts that go on in other sandboxes.
#include "runtime/engine/sandbox_contexts.hpp"
#include "tests/support/sandboxes/sandbox_fixture.hpp"

#include <algorithm>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;

struct branch_house : sandbox_fixture {
  explicit branch_house(sandbox_rules rules = {}) : sandbox_fixture{rules} {}

  sandbox_contexts& contexts() { return *engine().contexts(); }
  sandbox_result<sandbox_branches> branch(branch_spec what = {}) {
    sandbox_box<sandbox_branches> box;
    contexts().branch(someone(), id, std::move(what), box.handle());
    return box.get();
  }
  std::string make_context(context_language language) {
    context_spec what;
    what.language = language;
    sandbox_box<sandbox_context_ptr> box;
    contexts().create(someone(), id, what, box.handle());
    auto made = box.get();
    BOOST_REQUIRE(made);
    return (*made)->record().id;
  }
  sandbox_cell_ptr begin(const sandbox_id& in, const std::string& code,
                         std::string context = {}) {
    sandbox_box<sandbox_cell_ptr> box;
    contexts().run(someone(), in, {std::move(context)}, {code}, box.handle());
    auto cell = box.get();
    BOOST_REQUIRE_MESSAGE(cell, (cell ? "" : cell.error().text));
    return *cell;
  }
  std::string value(const sandbox_id& in, const std::string& code,
                    std::string context = {}) {
    auto cell = begin(in, code, std::move(context));
    auto over = std::make_shared<std::promise<void>>();
    cell->when_ended([over] { over->set_value(); });
    BOOST_REQUIRE(
      (over->get_future().wait_for(20s) == std::future_status::ready));
    const auto told = cell->event(0);
    return told ? told->event->data.at(0).second : "nothing";
  }

  sandbox_id id = running();
};

} // namespace

BOOST_AUTO_TEST_SUITE(branches_of_sandboxes)

BOOST_AUTO_TEST_CASE(a_context_goes_on_in_each_under_its_name) {
  branch_house house;
  const auto context = house.make_context(context_language::python);
  house.value(house.id, "set one", context);
  branch_spec what;
  what.count = 3;
  what.metadata = {{"a", "b"}};
  auto made = house.branch(what);
  BOOST_REQUIRE(made);
  BOOST_REQUIRE(made->all.size() == 3u);
  for (const auto& each : made->all) {
    BOOST_TEST(each.sandbox->metadata.at("a") == "b");
    BOOST_REQUIRE(each.contexts.size() == 1u);
    BOOST_TEST(each.contexts.front().id == context);
    BOOST_TEST(each.contexts.front().lost.size() == 1u);
    BOOST_TEST(house.value(each.sandbox->id, "get", context) == "one");
  }
  house.value(made->all[0].sandbox->id, "set two", context);
  BOOST_TEST(house.value(made->all[1].sandbox->id, "get", context) == "one");
  BOOST_TEST(house.value(house.id, "get", context) == "one");
  BOOST_TEST(until([&] { return house.toy.provider->kept_snapshots() == 0; }));
}

BOOST_AUTO_TEST_CASE(the_default_context_is_that_of_the_branch) {
  branch_house house;
  house.value(house.id, "set one");
  auto made = house.branch();
  BOOST_REQUIRE(made);
  BOOST_TEST(house.value(made->all[0].sandbox->id, "get") == "one");
}

BOOST_AUTO_TEST_CASE(other_languages_stay_and_are_named) {
  branch_house house;
  const auto shell = house.make_context(context_language::bash);
  auto none = house.branch();
  BOOST_REQUIRE(!none);
  BOOST_TEST((none.error().problem == problem::context_not_branchable));
  house.make_context(context_language::python);
  auto made = house.branch();
  BOOST_REQUIRE(made);
  BOOST_REQUIRE(made->left.size() == 1u);
  BOOST_TEST(made->left.front().id == shell);
  branch_spec what;
  what.contexts = {shell};
  auto named = house.branch(what);
  BOOST_REQUIRE(!named);
  BOOST_TEST((named.error().problem == problem::context_not_branchable));
  what.contexts = {"c_none"};
  BOOST_TEST((house.branch(what).error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(a_context_that_cannot_makes_no_sandbox) {
  branch_house house;
  const auto context = house.make_context(context_language::python);
  house.toy.provider->habits.unbranchable_kernels = 1;
  auto refused = house.branch();
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().problem == problem::context_not_branchable));
  BOOST_TEST(refused.error().text == "the toy has threads");
  house.begin(house.id, "wait", context);
  BOOST_TEST(
    (house.branch().error().problem == problem::context_not_branchable));
  BOOST_TEST(house.toy.provider->living() == 1u);
}

BOOST_AUTO_TEST_CASE(all_of_them_or_none) {
  branch_house house;
  house.make_context(context_language::python);
  branch_spec what;
  what.count = 3;
  house.toy.provider->habits.failing_creations = 1;
  BOOST_TEST(!house.branch(what).has_value());
  BOOST_TEST(until([&] { return house.toy.provider->living() == 1u; }));
  house.toy.provider->habits.failing_kernels = 1;
  BOOST_TEST(!house.branch(what).has_value());
  BOOST_TEST(until([&] { return house.toy.provider->living() == 1u; }));
  house.toy.provider->habits.failing_saves
    = 1; // the files are put away by then
  BOOST_TEST(!house.branch(what).has_value());
  BOOST_TEST(until([&] { return house.toy.provider->living() == 1u; }));
  BOOST_TEST(until([&] { return house.toy.provider->kept_snapshots() == 0u; }));
  house.toy.provider->habits.failing_snapshots = 1;
  BOOST_TEST(!house.branch(what).has_value());
  BOOST_TEST(house.branch(what).has_value());
}

BOOST_AUTO_TEST_CASE(they_count_as_sandboxes) {
  sandbox_rules rules;
  rules.max = 3;
  rules.queue = 0;
  branch_house house{rules};
  house.make_context(context_language::python);
  branch_spec what;
  what.count = 3;
  auto refused = house.branch(what);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == ec::exhausted));
  BOOST_TEST(until([&] { return house.toy.provider->living() == 1u; }));
  what.count = 2;
  BOOST_TEST(house.branch(what).has_value());
}

BOOST_AUTO_TEST_CASE(a_place_without_branches_says_so) {
  branch_house house;
  house.make_context(context_language::python);
  house.toy.provider->habits.branches = false;
  BOOST_TEST((house.branch().error().problem == problem::unsupported_here));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
