#include "runtime/settings/load.hpp"
#include "runtime/settings/render.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(settings_of_accounts)

namespace {

result<configuration> read(std::string text) {
  settings_layers layers;
  source_file file;
  file.text = std::move(text);
  read_config("config.ini", std::move(file), layers);
  return std::move(layers).finish();
}

std::string complaint(std::string text) {
  auto done = read(std::move(text));
  return done ? std::string{} : done.error().text;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_second_account_has_the_settings_of_its_provider) {
  auto done = read("[e2b]\napi-key = first-key\ndomain = first.example\n"
                   "[e2b.research]\napi-key = second-key\nmax-sandboxes = 7\n"
                   "[dispatch]\nprepare-timeout = 90s\n");
  BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().text));
  const auto& s = done->values;
  BOOST_TEST(s.e2b.api_key.reveal() == "first-key");
  BOOST_REQUIRE(s.accounts.size() == 1u);
  const auto& [name, as] = s.accounts.front();
  BOOST_TEST(name.text() == "e2b.research");
  BOOST_TEST(as->e2b.api_key.reveal() == "second-key");
  BOOST_TEST(as->e2b.max_sandboxes == 7u);
  // Its own group begins at the defaults, everything else is the engine's.
  BOOST_TEST(as->e2b.domain == "e2b.app");
  BOOST_TEST((as->dispatch.prepare_timeout == std::chrono::seconds{90}));
}

BOOST_AUTO_TEST_CASE(an_account_may_be_where_runs_go_by_default) {
  auto done = read("[e2b.batch]\napi-key = k\n"
                   "[dispatch]\ndefault-backend = e2b.batch\n");
  BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().text));
  auto why = complaint("[dispatch]\ndefault-backend = e2b.nowhere\n");
  BOOST_TEST(contains(why, "'e2b.nowhere' is not a backend"), why);
}

BOOST_AUTO_TEST_CASE(mistakes_in_an_account_name_file_line_and_way_out) {
  auto why = complaint("[e2b.research]\napikey = k\n");
  BOOST_TEST(contains(why, "config.ini:2"), why);
  BOOST_TEST(contains(why, "api-key"), why);
  why = complaint("[e2b.research]\nmax-sandboxes = many\n");
  BOOST_TEST(contains(why, "config.ini:2"), why);
  why = complaint("[e2b.Re search]\napi-key = k\n");
  BOOST_TEST(contains(why, "[e2b.Re search]"), why);
  BOOST_TEST(contains(why, "a-z"), why);
  BOOST_TEST(contains(complaint("[local.second]\nenabled = true\n"),
                      "local.second.enabled"));
}

BOOST_AUTO_TEST_CASE(what_is_shown_of_an_account_has_no_secret) {
  auto done = read("[daytona.eu]\napi-key = hunter2hunter2\ntarget = eu\n");
  BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().text));
  auto shown = render_values(*done, true);
  BOOST_TEST(contains(shown, "[daytona.eu]"), shown);
  BOOST_TEST(contains(shown, "target = "), shown);
  BOOST_TEST(contains(shown, "config.ini:3"), shown);
  BOOST_TEST(!contains(shown, "hunter2"));
}

BOOST_AUTO_TEST_SUITE_END()
