#include "runtime/model/package_requirement.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

namespace {

const std::string hostile[] = {
  "",
  " ",
  "-r requirements.txt",
  "--index-url=http://evil",
  "-e .",
  "git+https://github.com/a/b",
  "https://evil/x.whl",
  "pkg @ https://evil/x.whl",
  "./local",
  "../local",
  "/etc/passwd",
  "~/x",
  "file:///etc",
  "requests; python_version < '3'",
  "requests;rm -rf /",
  "requests && id",
  "requests|id",
  "requests`id`",
  "requests$(id)",
  "requests>file name",
  "requests\n--index-url http://evil",
  "requests\r",
  "requests==1.0 --hash=sha256:abc",
  "requests==1.0 extra",
  "requests=1.0",
  "requests==",
  "requests==1.0,",
  "requests==1.0,,<2",
  "requests>=1.*",
  "requests==a.b",
  "requests==1.0'",
  "requests==1.0\"",
  "requests==$(id)",
  "requests[",
  "requests[]",
  "requests[a",
  "requests[a;b]",
  "requests[a]]",
  "requests(>=1)",
  ".hidden",
  "under_",
  "caf\xc3\xa9",
  "a\\b",
  "a*",
  "%20",
  "requests==1.0+",
  "requests==1.0 #egg",
};

} // namespace

BOOST_AUTO_TEST_SUITE(pip_requirements)

BOOST_AUTO_TEST_CASE(reads_names_extras_and_versions) {
  const std::pair<const char*, const char*> cases[] = {
    {"requests", "requests"},
    {" requests ", "requests"},
    {"requests==2.31.0", "requests==2.31.0"},
    {"numpy >= 1.26 , < 2", "numpy>=1.26,<2"},
    {"pandas[excel, html]>=2,<3", "pandas[excel,html]>=2,<3"},
    {"zope.interface~=5.0", "zope.interface~=5.0"},
    {"Django!=4.0.*", "Django!=4.0.*"},
    {"a==1!2.0a1.post2.dev3+local.1", "a==1!2.0a1.post2.dev3+local.1"},
    {"torch==2.1.0rc1", "torch==2.1.0rc1"},
    {"x==1.0-1", "x==1.0-1"},
    {"x==v1.0", "x==v1.0"},
    {"x===1.0", "x===1.0"},
    {"x==1.0.alpha.2", "x==1.0.alpha.2"},
    {"py3", "py3"},
  };
  for (auto& [text, spelled] : cases) {
    BOOST_TEST_CONTEXT(text) {
      auto r = parse_pip(text);
      BOOST_REQUIRE(r.has_value());
      BOOST_TEST(to_string(*r) == spelled);
      BOOST_TEST((*parse_pip(to_string(*r)) == *r));
    }
  }
  auto r = *parse_pip("pandas[excel]>=2,<3");
  BOOST_TEST(r.name == "pandas");
  BOOST_TEST(r.extras.size() == 1u);
  BOOST_TEST(r.specifier == ">=2,<3");
}

BOOST_AUTO_TEST_CASE(refuses_whatever_an_installer_or_shell_would_obey) { // S9
  for (auto& text : hostile)
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_pip(text).has_error());
  BOOST_TEST(parse_pip(std::string(1'000'000, 'a')).has_error());
  BOOST_TEST(parse_pip(std::string_view("a\0b", 3)).has_error());
  std::string many = "x==1";
  for (int i = 0; i < 100; ++i)
    many += ",!=2";
  BOOST_TEST(parse_pip(many).has_error());
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong) {
  auto why = [](std::string_view text) { return parse_pip(text).error().text; };
  BOOST_TEST(why("-r x").find("option") != std::string::npos);
  BOOST_TEST(why("https://x").find("URL") != std::string::npos);
  BOOST_TEST(why("./x").find("path") != std::string::npos);
  BOOST_TEST(why("x; y").find("marker") != std::string::npos);
  BOOST_TEST(why("x\ny").find("control") != std::string::npos);
  BOOST_TEST(why("x\ny").find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(npm_requirements)

BOOST_AUTO_TEST_CASE(reads_names_scopes_and_ranges) {
  const std::pair<const char*, const char*> cases[] = {
    {"left-pad", "left-pad"},
    {"left-pad@1.3.0", "left-pad@1.3.0"},
    {"left-pad@\"1.3.0\"", "left-pad@1.3.0"},
    {"@scope/pkg", "@scope/pkg"},
    {"@scope/pkg@^2", "@scope/pkg@^2"},
    {"x@>=1  <2", "x@>=1 <2"},
    {"x@~1.2.x", "x@~1.2.x"},
    {"x@1.2.3-beta.1+b5", "x@1.2.3-beta.1+b5"},
    {"x@1 || 2", "x@1 || 2"},
    {"x@1.0.0 - 2.0.0", "x@1.0.0 - 2.0.0"},
    {"x@*", "x@*"},
    {"x@latest", "x@latest"},
    {"JSONStream@1", "JSONStream@1"},
    {"lodash.merge@>= 4", "lodash.merge@>=4"},
  };
  for (auto& [text, spelled] : cases) {
    BOOST_TEST_CONTEXT(text) {
      auto r = parse_npm(text);
      BOOST_REQUIRE(r.has_value());
      BOOST_TEST(to_string(*r) == spelled);
      BOOST_TEST((*parse_npm(to_string(*r)) == *r));
    }
  }
  auto r = *parse_npm("@scope/pkg@^2");
  BOOST_TEST(r.name == "@scope/pkg");
  BOOST_TEST(r.version == "^2");
}

BOOST_AUTO_TEST_CASE(refuses_whatever_an_installer_or_shell_would_obey) {
  for (auto& text : hostile)
    BOOST_TEST_CONTEXT(text)
  // A trailing underscore is fine for npm, alone in the table.
  BOOST_TEST((parse_npm(text).has_error() || text == "under_"));
  for (std::string text : {"x@",          "x@\"\"",      "x@file:../y",
                           "x@git://h/r", "x@user/repo", "x@npm:other@1",
                           "x@1.0.0;id",  "x@1 | 2",     "x@1 ||",
                           "x@|| 1",      "x@1 -",       "x@- 1",
                           "@scope",      "@/x",         "@scope/",
                           "@a/b/c",      "a/b",         "x@1@2",
                           "x@1.2.3.4",   "x@>",         "node_modules",
                           "x@`id`",      "x@\"1",       "x@-1",
                           "_x"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_npm(text).has_error());
  BOOST_TEST(parse_npm(std::string(215, 'a')).has_error());
}

BOOST_AUTO_TEST_SUITE_END()
