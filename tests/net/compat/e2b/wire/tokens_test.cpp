#include "net/compat/e2b/wire/tokens.hpp"
#include "runtime/model/sandbox.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net::e2b_facade;

BOOST_AUTO_TEST_SUITE(e2b_tokens)

BOOST_AUTO_TEST_CASE(a_token_opens_its_sandbox_and_no_other) {
  const token_maker maker;
  const auto mine = sandbox_id::make().str();
  const auto other = sandbox_id::make().str();
  const auto token = maker.token_of(mine).reveal();
  BOOST_TEST(maker.is_token_of(token, mine));
  BOOST_TEST(maker.token_of(mine).reveal() == token);
  BOOST_TEST(!maker.is_token_of(token, other));
  BOOST_TEST(!maker.is_token_of("", mine));
  BOOST_TEST(!maker.is_token_of(mine, mine));
  BOOST_TEST(!maker.is_token_of(token.substr(0, token.size() - 1), mine));
  BOOST_TEST(!token_maker{}.is_token_of(token, mine));
}

BOOST_AUTO_TEST_CASE(a_token_names_its_sandbox) {
  const auto id = sandbox_id::make().str();
  BOOST_TEST(sandbox_of_token(token_maker{}.token_of(id).reveal()) == id);
  for (const char* bad : {"", "_", "abc", "../x_1", "ABC_1", "a/b_1", "a-b_1"})
    BOOST_TEST(sandbox_of_token(bad).empty(), bad);
}

BOOST_AUTO_TEST_CASE(signatures_are_those_of_the_clients) {
  struct vector {
    signed_file what;
    std::string token;
    std::string signature;
  };
  const vector all[] = {
    {{"/home/user/u.txt", false, "", {}},
     "tok_example",
     "v1_lBULvpdmc7D0F83P40mZERhV4o33gnIyUeWZcMNBfH8"},
    {{"/home/user/u.txt", true, "user", 1'900'000'000},
     "tok_example",
     "v1_3r5fyzL9CfdTVI6d6OGtVmnulMBUPDmIJSmKK0jIoVg"},
    {{"hello.txt", false, "user", {}},
     "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0",
     "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E"},
    {{"", true, "", {}},
     "tok_example",
     "v1_/WWvfjizX8qPcYW7buSjpg3Bmcte0jexXjAXCZdmhc8"},
    {{"/tmp/\xc3\xa9 \xc3\xbc:1.txt", false, "root", 1'900'000'000},
     "tok_example",
     "v1_pv5EuSIanpiMNjQ5PXdd7arSev7cou/CNbY7zS8ClYo"},
    {{"a b/c+d.txt", true, "", 0},
     "tok_example",
     "v1_twpKCmbfBeEjBoGLyFKYuW9hBzVFhAieoTJrppXXzgg"},
  };
  for (const auto& each : all)
    BOOST_TEST(signature_of(each.what, each.token) == each.signature);
}

BOOST_AUTO_TEST_SUITE_END()
