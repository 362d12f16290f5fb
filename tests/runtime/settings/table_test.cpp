#include "runtime/settings/key.hpp"
#include "runtime/settings/render.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <set>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(settings_table)

BOOST_AUTO_TEST_CASE(names_every_setting_once) {
  std::set<std::string> paths, variables;
  for (auto& key : setting_keys()) {
    BOOST_TEST(paths.insert(key.path()).second, key.path());
    BOOST_TEST(variables.insert(key.variable()).second, key.variable());
    for (auto& alias : key.aliases)
      BOOST_TEST(variables.insert(std::string{alias.name}).second, alias.name);
  }
}

BOOST_AUTO_TEST_CASE(gives_every_setting_a_member_of_its_own) {
  settings s;
  std::set<const void*> members;
  for (auto& key : setting_keys())
    std::visit(
      [&](auto* slot) { BOOST_TEST(members.insert(slot).second, key.path()); },
      key.slot(s));
}

BOOST_AUTO_TEST_CASE(puts_every_setting_into_a_known_group) {
  std::set<std::string_view> groups;
  for (auto& group : setting_groups())
    groups.insert(group.name);
  std::set<std::string_view> used;
  for (auto& key : setting_keys()) {
    BOOST_TEST(groups.count(key.group) == 1u, key.path());
    BOOST_TEST(key.help.ends_with('.'), key.path());
    used.insert(key.group);
  }
  BOOST_TEST(used.size() == groups.size());
}

BOOST_AUTO_TEST_CASE(finds_the_nearest_name) {
  BOOST_TEST(nearest_setting("http.listn") == "http.listen");
  BOOST_TEST(nearest_setting("htp.listen") == "http.listen");
  BOOST_TEST(nearest_setting("http.data-dir") == "engine.data-dir");
  BOOST_TEST(nearest_setting("zebra.quux") == "");
}

BOOST_AUTO_TEST_CASE(renders_the_config_file_of_the_repository) {
  std::ifstream in{TROUPE_SOURCE_DIR "/config.ini"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  // When it differs: build/release/troupe config template > config.ini
  BOOST_TEST(text == render_ini());
}

BOOST_AUTO_TEST_CASE(lists_the_keys_of_one_group_or_of_all) {
  BOOST_TEST(render_keys("aio").find("SANDBOX_PORT") != std::string::npos);
  BOOST_TEST(render_keys("aio").find("E2B_API_KEY") == std::string::npos);
  BOOST_TEST(keys_json("").size() == setting_keys().size());
}

BOOST_AUTO_TEST_SUITE_END()
