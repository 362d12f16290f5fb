#include "runtime/model/backend_name.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(backend_names)

BOOST_AUTO_TEST_CASE(a_kind_is_the_name_of_its_first_backend) {
  for (const auto& each : backend_kinds_known) {
    const backend_name first = each.kind;
    BOOST_TEST(first.text() == each.text);
    BOOST_TEST((first.kind() == each.kind));
    auto read = parse_backend_name(each.text);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST((*read == first));
  }
  BOOST_TEST((backend_name{} == backend_kind::local));
}

BOOST_AUTO_TEST_CASE(an_account_is_a_backend_of_its_own) {
  auto made = backend_name::make(backend_kind::e2b, "names-test");
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(made->text() == "e2b.names-test");
  BOOST_TEST((made->kind() == backend_kind::e2b));
  BOOST_TEST((*made != backend_kind::e2b));
  BOOST_TEST((backend_name::at(made->index()) == *made));
  auto again = backend_name::make(backend_kind::e2b, "names-test");
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST((*again == *made));
  auto read = parse_backend_name("e2b.names-test");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST((*read == *made));
}

BOOST_AUTO_TEST_CASE(what_a_caller_sends_makes_no_name) {
  const auto before = backend_name::count();
  for (const auto* text : {"e2b.unheard-of", "docker", "", "e2b.", ".e2b"})
    BOOST_TEST(parse_backend_name(text).has_error(), text);
  BOOST_TEST(backend_name::count() == before);
}

BOOST_AUTO_TEST_CASE(a_record_of_an_account_that_is_gone_tells_its_kind) {
  auto told = recall_backend_name("daytona.long-gone");
  BOOST_REQUIRE(told.has_value());
  BOOST_TEST((*told == backend_kind::daytona));
  BOOST_TEST(recall_backend_name("docker.x").has_error());
}

BOOST_AUTO_TEST_CASE(an_account_has_a_plain_name_and_a_provider) {
  for (const auto* bad : {"", "A", "a b", "a.b", "a/b", "\n"})
    BOOST_TEST(backend_name::make(backend_kind::e2b, bad).has_error(), bad);
  const std::string long_name(33, 'a');
  BOOST_TEST(backend_name::make(backend_kind::e2b, long_name).has_error());
  for (auto kind : {backend_kind::local, backend_kind::peer})
    BOOST_TEST(backend_name::make(kind, "second").has_error());
}

BOOST_AUTO_TEST_CASE(an_atomic_name_needs_no_lock) {
  std::atomic<backend_name> shared{backend_kind::aio};
  BOOST_TEST(shared.is_lock_free());
  BOOST_TEST((shared.load() == backend_kind::aio));
}

BOOST_AUTO_TEST_SUITE_END()
