#include "runtime/model/sandbox_config.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(config_payloads)

namespace {

json::object object(std::string_view text) {
  return *json::parse_object(text);
}

const config_defaults defaults{"/home/u/.letta/tool_execution_dir", "", ""};

std::string stored(backend_kind type, std::string_view payload,
                   const config_defaults& d = defaults) {
  auto o = normalize_config(type, object(payload), d, unknown_members::refuse);
  return o ? json::to_canonical(*o) : to_string(o.error());
}

} // namespace

BOOST_AUTO_TEST_CASE(recognizes_untyped_payloads_as_letta_does) { // C9
  const std::pair<const char*, const char*> rows[] = {
    {R"({})", "local"},
    {R"({"bogus":1})", "local"},
    {R"({"timeout":100})", "e2b"},
    {R"({"timeout":100,"template":"x"})", "e2b"},
    {R"({"template":"x"})", "local"},
    {R"({"language":"typescript"})", "local"},
    {R"({"npm_requirements":["x"]})", "local"},
    {R"({"timeout":60,"language":"python"})", "e2b"},
    {R"({"timeout":60,"pip_requirements":["a"],"language":"python"})", "e2b"},
    {R"({"language":"typescript","npm_requirements":["x"]})", "modal"},
    {R"({"timeout":60,"language":"python","npm_requirements":["x"]})", "modal"},
    {R"({"pip_requirements":["numpy"]})", "e2b"},
    {R"({"pip_requirements":[{"name":"numpy"}]})", "local"},
    {R"({"pip_requirements":[]})", "local"},
    {R"({"timeout":60,"pip_requirements":[]})", "e2b"},
    {R"({"sandbox_dir":"/x"})", "local"},
    {R"({"use_venv":true})", "local"},
    {R"({"sandbox_dir":"/x","timeout":3})", "e2b"},
    // A type that is said wins.
    {R"({"type":"modal","timeout":60})", "modal"},
    {R"({"type":"daytona"})", "daytona"},
    {R"({"type":7,"timeout":60})", "e2b"},
  };
  for (auto& [payload, type] : rows) {
    BOOST_TEST_CONTEXT(payload) {
      auto kind = recognize_config(object(payload));
      BOOST_REQUIRE(kind.has_value());
      BOOST_TEST(to_string(*kind) == type);
    }
  }
  BOOST_TEST(recognize_config(object(R"({"type":"docker"})")).has_error());
  BOOST_TEST(
    recognize_config(object(R"({"timeout":"x","use_venv":1})")).has_error());
}

BOOST_AUTO_TEST_CASE(gives_the_standard_config_the_venv_of_the_process) {
  auto with_venv = defaults;
  with_venv.venv_name = "env";
  const auto of = [](backend_kind type, const config_defaults& d) {
    return json::to_canonical(standard_config(type, d).value());
  };
  BOOST_TEST(of(backend_kind::local, with_venv)
             == R"({"pip_requirements":[],)"
                R"("sandbox_dir":"/home/u/.letta/tool_execution_dir",)"
                R"("use_venv":true,"venv_name":"env"})");
  BOOST_TEST(of(backend_kind::local, defaults)
             == stored(backend_kind::local, "{}"));
  BOOST_TEST(of(backend_kind::e2b, with_venv)
             == stored(backend_kind::e2b, "{}"));
  // What somebody stores is theirs alone.
  BOOST_TEST(stored(backend_kind::local, "{}", with_venv)
             == stored(backend_kind::local, "{}"));
}

BOOST_AUTO_TEST_CASE(stores_payloads_with_defaults_and_without_nulls) {
  BOOST_TEST(stored(backend_kind::local, "{}")
             == R"({"pip_requirements":[],)"
                R"("sandbox_dir":"/home/u/.letta/tool_execution_dir",)"
                R"("use_venv":false,"venv_name":"venv"})");
  BOOST_TEST(stored(backend_kind::local,
                    R"({"sandbox_dir":"","use_venv":true,"venv_name":"env",
                        "pip_requirements":[{"name":"numpy","version":null},
                        {"name":"a","version":"1.0"},"b==2","c[x]>=1"]})")
             == R"({"pip_requirements":[{"name":"numpy"},)"
                R"({"name":"a","version":"1.0"},{"name":"b","version":"2"},)"
                R"({"name":"c[x]","version":">=1"}],"sandbox_dir":"",)"
                R"("use_venv":true,"venv_name":"env"})");
  BOOST_TEST(stored(backend_kind::e2b, R"({"template":null})")
             == R"({"timeout":300})");
  BOOST_TEST(stored(backend_kind::e2b, "{}", {"", "tpl", ""})
             == R"({"template":"tpl","timeout":300})");
  BOOST_TEST(stored(backend_kind::e2b,
                    R"({"pip_requirements":["numpy >=1",{"name":"a",
                        "version":"2"}],"type":"e2b"})")
             == R"({"pip_requirements":["numpy >=1","a==2"],"timeout":300})");
  BOOST_TEST(stored(backend_kind::modal, R"({"npm_requirements":null})")
             == R"({"language":"python","timeout":60})");
  BOOST_TEST(stored(backend_kind::daytona, R"({"image":"debian:12"})")
             == R"({"image":"debian:12","timeout":300})");
  BOOST_TEST(stored(backend_kind::aio,
                    R"({"limits":{"wall_seconds":5,"cpu_seconds":null}})")
             == R"({"limits":{"wall_seconds":5},"timeout":300})");
  BOOST_TEST(stored(backend_kind::peer, R"({"isolation":"strict"})")
             == R"({"isolation":"strict"})");
}

BOOST_AUTO_TEST_CASE(keeps_only_what_an_update_gives) {
  auto o = normalize_update(backend_kind::local, object(R"({"use_venv":true})"),
                            {"/d", "", ""}, unknown_members::refuse);
  BOOST_REQUIRE(o.has_value());
  BOOST_TEST(json::to_canonical(*o)
             == R"({"sandbox_dir":"/d","use_venv":true})");
  o = normalize_update(backend_kind::e2b, object("{}"), {"/d", "", ""},
                       unknown_members::refuse);
  BOOST_REQUIRE(o.has_value());
  BOOST_TEST(o->empty());
  o = normalize_update(backend_kind::e2b, object("{}"), {"/d", "t", ""},
                       unknown_members::refuse);
  BOOST_TEST(json::to_canonical(*o) == R"({"template":"t"})");
}

BOOST_AUTO_TEST_CASE(refuses_or_drops_unknown_members) {
  auto payload = object(R"({"timout":5,"use_venv":true})");
  auto refused = normalize_config(backend_kind::e2b, payload, defaults,
                                  unknown_members::refuse);
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST(refused.error().fields.size() == 2u);
  BOOST_TEST(refused.error().fields[0].pointer == "/timout");
  BOOST_TEST(refused.error().fields[0].hint == "did you mean 'timeout'?");
  auto dropped = normalize_config(backend_kind::e2b, payload, defaults,
                                  unknown_members::drop);
  BOOST_REQUIRE(dropped.has_value());
  BOOST_TEST(json::to_canonical(*dropped) == R"({"timeout":300})");
  // What is known is checked either way.
  BOOST_TEST(normalize_config(backend_kind::e2b, object(R"({"timeout":0})"),
                              defaults, unknown_members::drop)
               .has_error());
  BOOST_TEST(normalize_config(backend_kind::e2b, object(R"({"type":"local"})"),
                              defaults, unknown_members::drop)
               .has_error());
}

BOOST_AUTO_TEST_SUITE_END()
