// What Daytona's daemon does with a repository elsewhere, against the stand-in
// that refuses whatever it does not know. No trial at the real one has such a
// repository.
#include "tests/net/providers/daytona/daytona_server.hpp"

#include <vector>

using namespace troupe;
using namespace troupe::net::daytona;
using test::daytona_stand_in;

namespace {

struct with_origin {
  daytona_stand_in daytona;
  net::daytona_options options{.api_key = secret{daytona_stand_in::api_key},
                               .api_url = daytona.api_url()};
  test::daytona_house house{options};
  const std::string folder = "/tmp/troupe-git";
  const std::string origin = folder + "/origin.git";
  const git_login login{"me", secret{"word"}};

  void commit(const std::string& where, const std::string& file) {
    house.good(upload({{where + "/" + file, file}}));
    house.good(git_add(where, {file}));
    house.good(git_commit(where, "more", "Troupe", "trial@example.org"));
  }
  bool has(const std::string& path) {
    return house.ask(file_info(path)).has_value();
  }
  std::string last_body(std::string_view call) {
    std::string body;
    for (const auto& r : daytona.server().requests())
      if (r.path.ends_with(call))
        body = r.body;
    return body;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(daytona_git, with_origin)

BOOST_AUTO_TEST_CASE(is_cloned_and_pushed_as_by_their_client) {
  test::clone_and_push(house, login, folder);
}

BOOST_AUTO_TEST_CASE(brings_to_one_clone_what_another_one_pushed) {
  house.make_origin(origin);
  house.good(git_clone(origin, folder + "/a"));
  commit(folder + "/a", "first.txt");
  house.good(git_push(folder + "/a"));
  house.good(git_clone(origin, folder + "/b", "main"));
  BOOST_TEST(has(folder + "/b/first.txt"));
  commit(folder + "/a", "second.txt");
  BOOST_TEST(!has(folder + "/b/second.txt"));
  house.good(git_push(folder + "/a", login));
  house.good(git_pull(folder + "/b", login));
  BOOST_TEST(has(folder + "/b/second.txt"));
  // Twice is as good as once: such a call may be repeated.
  house.good(git_push(folder + "/a"));
  house.good(git_pull(folder + "/b"));
}

BOOST_AUTO_TEST_CASE(clones_the_branch_that_was_asked_for) {
  house.make_origin(origin);
  house.good(git_clone(origin, folder + "/a"));
  commit(folder + "/a", "first.txt");
  house.good(git_push(folder + "/a"));
  house.good(git_create_branch(folder + "/a", "other"));
  house.good(git_checkout(folder + "/a", "other"));
  commit(folder + "/a", "second.txt");
  house.good(git_push(folder + "/a"));
  house.good(git_clone(origin, folder + "/main", "main"));
  house.good(git_clone(origin, folder + "/other", "other"));
  BOOST_TEST(!has(folder + "/main/second.txt"));
  BOOST_TEST(has(folder + "/other/second.txt"));
  auto missing = house.ask(git_clone(origin, folder + "/no", "no-such"));
  BOOST_TEST(missing.has_error());
}

BOOST_AUTO_TEST_CASE(says_who_it_is_or_nothing_at_all) {
  house.make_origin(origin);
  house.good(git_clone(origin, folder + "/a", "", login));
  auto said = json::parse_object(last_body("/git/clone"));
  BOOST_REQUIRE(said.has_value());
  BOOST_TEST(said->at("username").as_string() == "me");
  BOOST_TEST(said->at("password").as_string() == "word");
  commit(folder + "/a", "first.txt");
  house.good(git_push(folder + "/a"));
  said = json::parse_object(last_body("/git/push"));
  BOOST_REQUIRE(said.has_value());
  BOOST_TEST(said->size() == 1u); // its path
}

BOOST_AUTO_TEST_CASE(tells_a_wrong_login_without_repeating_it) {
  house.make_origin(origin);
  house.good(git_clone(origin, folder + "/a"));
  const git_login wrong{"me", secret{"not-the-word"}};
  for (const auto& what :
       {git_clone(origin, folder + "/b", "", wrong),
        git_push(folder + "/a", wrong), git_pull(folder + "/a", wrong)}) {
    auto reply = house.ask(what);
    BOOST_REQUIRE(reply.has_error());
    BOOST_TEST((reply.error().code == ec::denied), what.doing);
    BOOST_TEST(reply.error().text.find("not-the-word") == std::string::npos);
  }
  BOOST_TEST(!has(folder + "/b"));
}

BOOST_AUTO_TEST_CASE(tells_where_there_is_no_repository) {
  for (const auto& what :
       {git_clone(folder + "/nowhere.git", folder + "/a"),
        git_push(folder + "/nowhere"), git_pull(folder + "/nowhere")}) {
    auto reply = house.ask(what);
    BOOST_REQUIRE(reply.has_error());
    BOOST_TEST(reply.error().text.find("Daytona did not ")
               != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
