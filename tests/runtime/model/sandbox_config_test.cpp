#include "runtime/model/sandbox_config.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(sandbox_configs)

namespace {

const std::string org = "org-00000000-0000-4000-8000-000000000000";

json::object object(std::string_view text) {
  return *json::parse_object(text);
}

std::string print_of(backend_kind type, std::optional<std::string> owner,
                     std::string_view config) {
  return fingerprint(type, owner, object(config));
}

} // namespace

BOOST_AUTO_TEST_CASE(fingerprints_as_letta_does) {
  BOOST_TEST(
    print_of(backend_kind::local, org,
             R"({"sandbox_dir":"/root/.letta/tool_execution_dir",
                 "use_venv":false,"venv_name":"venv","pip_requirements":[]})")
    == "48408990033679363701484527775310645901996820373321982248109825766489622"
       "234136");
  BOOST_TEST(
    print_of(backend_kind::local, org,
             R"({"sandbox_dir":"/srv/sbx","use_venv":true,"venv_name":"env",
                 "pip_requirements":[{"name":"numpy"},
                 {"version":"2.31.0","name":"requests"}]})")
    == "98401820264554905272692235426430715411886179327093633551555523851812805"
       "670349");
  BOOST_TEST(
    print_of(backend_kind::local, org,
             "{\"sandbox_dir\":\"/srv/\xc3\xa9\xf0\x9f\x98\x80\","
             "\"use_venv\":false,\"venv_name\":\"venv\","
             "\"pip_requirements\":[]}")
    == "13361107820356964627798055596490731932051482930482729429293658868839173"
       "63060");
  BOOST_TEST(
    print_of(backend_kind::e2b, org, R"({"timeout":300})")
    == "56894528977682583305824433591024591196543562763041121221751094954850843"
       "705791");
  BOOST_TEST(
    print_of(backend_kind::modal, org, R"({"timeout":60,"language":"python"})")
    == "37535711388200877412639517156490455030978291503758980442522340880401143"
       "69079");
  BOOST_TEST(
    print_of(backend_kind::local, std::nullopt, "{}")
    == "11403083950895354317070820923878838882797105976728846822781557542536844"
       "594314");
}

BOOST_AUTO_TEST_CASE(fingerprints_a_record_by_type_owner_and_config_only) {
  sandbox_config c;
  c.id = config_id::make();
  c.organization = default_organization();
  c.type = backend_kind::e2b;
  c.config = object(R"({"timeout":300})");
  auto before = fingerprint(c);
  BOOST_TEST(before == print_of(backend_kind::e2b, org, R"({"timeout":300})"));
  c.revision = 7;
  c.id = config_id::make();
  c.created_by = "somebody";
  BOOST_TEST(fingerprint(c) == before);
  c.organization = organization_id{};
  BOOST_TEST(fingerprint(c) != before);
}

BOOST_AUTO_TEST_CASE(reads_typed_views_with_defaults) {
  auto local = as_local(object("{}"));
  BOOST_REQUIRE(local.has_value());
  BOOST_TEST(!local->use_venv);
  BOOST_TEST(local->venv_name == "venv");
  BOOST_TEST((as_e2b(object("{}"))->timeout == std::chrono::seconds{300}));
  BOOST_TEST((as_modal(object("{}"))->timeout == std::chrono::seconds{60}));
  BOOST_TEST(as_modal(object("{}"))->language == "python");
  auto e2b = as_e2b(object(
    R"({"timeout":5,"template":"base","reuse":true,
        "pip_requirements":["numpy==1.26.0"],"npm_requirements":["left-pad"],
        "limits":{"wall_seconds":"500ms","memory_bytes":"64MiB"},
        "network":{"allow":["example.org:443"]},"isolation":"strict",
        "allow_weaker_fallback":false})"));
  BOOST_REQUIRE(e2b.has_value());
  BOOST_TEST((e2b->timeout == std::chrono::seconds{5}));
  BOOST_TEST(e2b->template_id == "base");
  BOOST_TEST(e2b->reuse);
  BOOST_TEST(as_daytona(object(R"({"reuse":true})"))->reuse);
  BOOST_TEST(!as_daytona(object("{}"))->reuse);
  BOOST_TEST(e2b->pip_requirements.at(0).specifier == "==1.26.0");
  BOOST_TEST((e2b->common.limits.wall == std::chrono::milliseconds{500}));
  BOOST_TEST(*e2b->common.limits.memory_bytes == 64u << 20);
  BOOST_TEST(e2b->common.network->allow.size() == 1u);
  BOOST_TEST((e2b->common.isolation == isolation_level::strict));
  BOOST_TEST(!e2b->common.allow_weaker_fallback);
}

BOOST_AUTO_TEST_CASE(refuses_hostile_members) {
  for (auto text :
       {R"({"venv_name":"../x"})", R"({"venv_name":"a/b"})",
        R"({"venv_name":".."})", R"({"venv_name":""})",
        R"({"venv_name":"a b"})", R"({"sandbox_dir":"a\u0000b"})",
        R"({"sandbox_dir":"a\nb"})", R"({"use_venv":"yes"})",
        R"({"pip_requirements":"numpy"})", R"({"pip_requirements":[1]})",
        R"({"pip_requirements":[{"name":""}]})",
        R"({"pip_requirements":[{"version":"1"}]})",
        R"({"pip_requirements":[{"name":"a","version":"1; rm"}]})",
        R"({"pip_requirements":[{"name":"a==1","version":"2"}]})",
        R"({"pip_requirements":["--index-url http://evil"]})",
        R"({"limits":{"wall":5}})", R"({"limits":{"wall_seconds":0}})",
        R"({"network":"everything"})", R"({"isolation":"none"})"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(as_local(object(text)).has_error());
  for (auto text :
       {R"({"timeout":0})", R"({"timeout":-1})", R"({"timeout":1e18})",
        R"({"timeout":"60"})", R"({"language":"ruby"})"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(as_modal(object(text)).has_error());
  BOOST_TEST(as_daytona(object(R"({"snapshot":"a","image":"b"})")).has_error());
}

BOOST_AUTO_TEST_CASE(spells_backends_both_ways) {
  for (auto text : {"local", "e2b", "modal", "daytona", "aio", "peer"})
    BOOST_TEST(to_string(*parse_backend(text)) == text);
  BOOST_TEST(parse_backend("docker").has_error());
}

BOOST_AUTO_TEST_SUITE_END()
