#include "runtime/toolkit/sessions.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::toolkit;

BOOST_AUTO_TEST_SUITE(sessions_of_callers)

BOOST_AUTO_TEST_CASE(a_name_of_one_organization_means_nothing_to_another) {
  sessions all;
  const auto one = organization_id::make(), other = organization_id::make();
  const auto mine = all.of(one, "chat");
  mine->moved_to(sandbox_id::make());
  BOOST_TEST((all.of(one, "chat") == mine));
  BOOST_TEST((all.of(other, "chat") != mine));
  BOOST_TEST(all.of(other, "chat")->sandbox().empty());
}

BOOST_AUTO_TEST_CASE(the_one_that_was_not_used_for_longest_is_dropped) {
  sessions all{3};
  const auto one = organization_id::make();
  const auto first = all.of(one, "1"), second = all.of(one, "2");
  all.of(one, "3");
  BOOST_TEST((all.of(one, "1") == first));
  all.of(one, "4");
  BOOST_TEST(all.size() == 3u);
  BOOST_TEST((all.of(one, "1") == first));
  BOOST_TEST((all.of(one, "2") != second));
}

BOOST_AUTO_TEST_CASE(another_sandbox_forgets_what_was_shown) {
  session s;
  const auto one = sandbox_id::make();
  BOOST_TEST(!s.moved_to(one));
  s.shown("p_1", {5, 6});
  BOOST_TEST(!s.moved_to(one));
  BOOST_TEST(s.shown("p_1").out == 5u);
  BOOST_TEST(s.moved_to(sandbox_id::make()));
  BOOST_TEST(s.shown("p_1").out == 0u);
}

BOOST_AUTO_TEST_CASE(readers_are_remembered_within_bounds) {
  session s;
  for (int i = 0; i < 1'000; ++i)
    s.shown("p_" + std::to_string(i), {1, 1});
  std::size_t kept = 0;
  for (int i = 0; i < 1'000; ++i)
    kept += s.shown("p_" + std::to_string(i)).out;
  BOOST_TEST(kept == 256u);
}

BOOST_AUTO_TEST_CASE(ids_for_models_cannot_be_guessed_or_made_up) {
  const auto id = make_session_id();
  BOOST_TEST(is_session_id(id));
  BOOST_TEST(id != make_session_id());
  for (auto other : {"", "ses-", "default", "ses-abc", "chat_123"})
    BOOST_TEST(!is_session_id(other), other);
  BOOST_TEST(!is_session_id(id + "a"));
  BOOST_TEST(!is_session_id("SES" + id.substr(3)));
}

BOOST_AUTO_TEST_CASE(names_are_of_a_few_characters) {
  BOOST_TEST(is_session_name("chat_123/a:b@c.d-e"));
  BOOST_TEST(is_session_name(std::string(128, 'a')));
  for (const auto& bad :
       {std::string{}, std::string(129, 'a'), std::string{"a b"},
        std::string{"ä"}, std::string{"a\nb"}, std::string{"a\0b", 3}})
    BOOST_TEST(!is_session_name(bad), bad);
}

BOOST_AUTO_TEST_SUITE_END()
