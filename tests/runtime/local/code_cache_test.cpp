#include "runtime/local/code_cache.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(code_caches)

namespace {

prepared_run source_run(std::string source) {
  prepared_run run;
  run.kind = run_kind::source;
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = std::move(source);
  return run;
}

constexpr auto from_start = code_cache::options::of_a_start;
constexpr auto from_fork = code_cache::options::of_a_fork;

} // namespace

BOOST_AUTO_TEST_CASE(ask_for_code_at_the_second_sighting_and_once) {
  code_cache cache;
  BOOST_TEST(cache.find("a").empty());
  BOOST_TEST(!cache.wants("a", from_start));
  BOOST_TEST(cache.find("a").empty());
  BOOST_TEST(cache.wants("a", from_start));
  BOOST_TEST(!cache.wants("a", from_start));
  cache.put("a", "code");
  BOOST_TEST(cache.find("a") == "code");
}

BOOST_AUTO_TEST_CASE(ask_again_when_a_run_is_forked) {
  code_cache cache{{.sightings = 1}};
  cache.find("a");
  BOOST_TEST(cache.wants("a", from_start));
  cache.put("a", "for a start");
  BOOST_TEST(cache.wants("a", from_fork));
  BOOST_TEST(cache.find("a") == "for a start"); // better than none
  BOOST_TEST(!cache.wants("a", from_fork));
  BOOST_TEST(!cache.wants("a", from_start));
  cache.put("a", "for a fork");
  BOOST_TEST(cache.find("a") == "for a fork");
}

BOOST_AUTO_TEST_CASE(forget_what_was_used_longest_ago) {
  code_cache cache{{.entries = 2, .bytes = 1'000, .sightings = 1}};
  for (const char* key : {"a", "b", "a", "c"})
    cache.find(key);
  cache.put("a", "1");
  cache.put("b", "2"); // gone: nobody to put it for
  BOOST_TEST(cache.size() == 2u);
  BOOST_TEST(cache.find("a") == "1");
  cache.put("c", std::string(2'000, 'x')); // more than its share
  BOOST_TEST(cache.bytes() == 1u);
}

BOOST_AUTO_TEST_CASE(keep_organizations_and_names_apart) {
  auto run = source_run("def f(): pass\n");
  const auto key = code_cache::key_of(run);
  auto other = run;
  other.organization = organization_id::make();
  BOOST_TEST(code_cache::key_of(other) != key);
  other = run;
  other.name = "fd";
  BOOST_TEST(code_cache::key_of(other) != key);
  other = run;
  other.args_json = "{\"a\": 1}";
  BOOST_TEST(code_cache::key_of(other) == key);
  for (auto how : {&prepared_run::may_be_script, &prepared_run::as_letta}) {
    other = run;
    other.*how = true;
    BOOST_TEST(code_cache::key_of(other) != key);
  }
}

BOOST_AUTO_TEST_CASE(change_nothing_that_a_run_can_see) {
  // The first runs compile where they are, the later ones are handed code.
  for (const char* source :
       {"def f():\n  def g():\n    raise ValueError('bad')\n  g()\n",
        "def f():\n  return [__name__, f.__code__.co_filename]\n",
        "def f(:\n"}) {
    std::string first;
    for (int i = 0; i < 6; ++i) {
      const auto r = shared_host().run(source_run(source));
      const auto text = r.value_json + r.failure.name + r.failure.message
        + r.failure.traceback + r.stderr_text;
      if (i == 0)
        first = text;
      BOOST_TEST(text == first);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
