#include "runtime/model/codec/sandbox_codec.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe {

namespace {

json::object parsed(std::string_view text) {
  auto body = json::parse_object(text);
  BOOST_REQUIRE_MESSAGE(body, text);
  return *body;
}

struct complaint {
  const char* body;
  const char* pointer;
};

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_codec)

BOOST_AUTO_TEST_CASE(an_empty_body_is_a_sandbox_as_the_engine_likes_it) {
  auto s = parse_sandbox_spec({});
  BOOST_REQUIRE(s.has_value());
  BOOST_TEST(s->name == "");
  BOOST_TEST(!s->timeout);
  BOOST_TEST(!s->place);
  BOOST_TEST(s->wait_until_running);
  BOOST_TEST((s->on_timeout == timeout_action::remove));
}

BOOST_AUTO_TEST_CASE(every_member_arrives) {
  auto s = parse_sandbox_spec(parsed(R"({
    "name": "web-1", "template": "base", "place": "local", "timeout": "5m",
    "on_timeout": "stop", "env": {"A": "1"}, "metadata": {"chat": "42"},
    "network": "off", "isolation": "strict", "wait": "none",
    "git": {"url": "https://example.org/a.git", "branch": "v1", "depth": 1},
    "resources": {"memory_bytes": "256MiB", "processes": 16}})"));
  BOOST_REQUIRE(s.has_value());
  BOOST_TEST(s->name == "web-1");
  BOOST_TEST(s->template_name == "base");
  BOOST_TEST((*s->place == backend_name{backend_kind::local}));
  BOOST_TEST(s->timeout->count() == 300'000);
  BOOST_TEST((s->on_timeout == timeout_action::stop));
  BOOST_TEST(s->env.at("A").reveal() == "1");
  BOOST_TEST(s->metadata.at("chat") == "42");
  BOOST_TEST((s->network->mode == network_mode::off));
  BOOST_TEST(s->git->url == "https://example.org/a.git");
  BOOST_TEST(s->git->branch == "v1");
  BOOST_TEST(s->git->depth == 1u);
  BOOST_TEST((*s->isolation == isolation_level::strict));
  BOOST_TEST(!s->wait_until_running);
  BOOST_TEST(*s->resources.memory_bytes == 256u << 20);
  BOOST_TEST(*s->resources.processes == 16u);
  BOOST_TEST(!s->resources.disk_bytes);
}

BOOST_AUTO_TEST_CASE(a_wrong_member_is_named_with_a_way_out) {
  constexpr complaint all[] = {
    {R"({"name": ""})", "/name"},
    {R"({"name": "a b"})", "/name"},
    {R"({"name": 1})", "/name"},
    {R"({"template": "../x"})", "/template"},
    {R"({"place": "moon"})", "/place"},
    {R"({"timeout": 0})", "/timeout"},
    {R"({"timeout": "soon"})", "/timeout"},
    {R"({"timeout": 86401})", "/timeout"},
    {R"({"on_timeout": "explode"})", "/on_timeout"},
    {R"({"metadata": {"a": 1}})", "/metadata/a"},
    {R"({"metadata": []})", "/metadata"},
    {R"({"env": {"LD_PRELOAD": "x"}})", "/env/LD_PRELOAD"},
    {R"({"network": "wide"})", "/network"},
    {R"({"git": {}})", "/git/url"},
    {R"({"git": {"url": "ext::sh -c id"}})", "/git/url"},
    {R"({"git": {"url": "https://me:key@example.org/a"}})", "/git/url"},
    {R"({"isolation": "some"})", "/isolation"},
    {R"({"resources": {"wall_seconds": 1}})", "/resources/wall_seconds"},
    {R"({"resources": {"memory_bytes": 1}})", "/resources/memory_bytes"},
    {R"({"resources": {"memory_bytes": "8MiB"}})", "/resources/memory_bytes"},
    {R"({"resources": {"disk_bytes": 4096}})", "/resources/disk_bytes"},
    {R"({"resources": {"inodes": 16}})", "/resources/inodes"},
    {R"({"resources": {"processes": 2}})", "/resources/processes"},
    {R"({"wait": "forever"})", "/wait"},
    {R"({"timeuot": 1})", "/timeuot"},
  };
  for (const auto& [body, pointer] : all) {
    auto s = parse_sandbox_spec(parsed(body));
    BOOST_REQUIRE_MESSAGE(!s, body);
    BOOST_TEST(s.error().fields.at(0).pointer == pointer, body);
    BOOST_TEST(!s.error().fields.at(0).reason.empty(), body);
  }
}

BOOST_AUTO_TEST_CASE(all_complaints_come_at_once) {
  auto s = parse_sandbox_spec(
    parsed(R"({"name": "a b", "timeout": 0, "wait": "forever"})"));
  BOOST_REQUIRE(!s);
  BOOST_TEST(s.error().fields.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_process_is_argv_or_a_line_for_the_shell) {
  auto p = parse_process_spec(parsed(R"({"argv": ["/bin/ls", "-l"],
    "cwd": "/tmp", "env": {"A": "1"}, "stdin": "in", "open_stdin": true,
    "timeout": 2.5, "tag": "build"})"));
  BOOST_REQUIRE(p.has_value());
  BOOST_TEST((p->program() == std::vector<std::string>{"/bin/ls", "-l"}));
  BOOST_TEST(p->cwd == "/tmp");
  BOOST_TEST(p->input == "in");
  BOOST_TEST(p->open_input);
  BOOST_TEST(p->timeout.count() == 2'500);
  auto line = parse_process_spec(parsed(R"({"command": "echo $HOME"})"));
  BOOST_REQUIRE(line.has_value());
  BOOST_TEST(line->program().back() == "echo $HOME");
  BOOST_TEST(line->timeout.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_process_that_cannot_begin_is_refused_with_its_pointer) {
  constexpr complaint all[] = {
    {R"({})", ""},
    {R"({"argv": []})", "/argv"},
    {R"({"argv": [""]})", "/argv"},
    {R"({"argv": ["a\u0000b"]})", "/argv"},
    {R"({"argv": ["ls"], "command": "ls"})", "/command"},
    {R"({"command": ""})", "/command"},
    {R"({"command": "ls", "cwd": "tmp"})", "/cwd"},
    {R"({"command": "ls", "cwd": "/a\u0000"})", "/cwd"},
    {R"({"command": "ls", "timeout": -1})", "/timeout"},
    {R"({"comand": "ls"})", "/comand"}, // which explains what is missing
  };
  for (const auto& [body, pointer] : all) {
    auto p = parse_process_spec(parsed(body));
    BOOST_REQUIRE_MESSAGE(!p, body);
    BOOST_TEST(p.error().fields.at(0).pointer == pointer, body);
  }
}

BOOST_AUTO_TEST_CASE(a_record_says_everything_but_values) {
  sandbox_record r;
  r.id = sandbox_id::make();
  r.organization = default_organization();
  r.state = sandbox_state::running;
  r.metadata = {{"chat", "42"}};
  r.timeout = std::chrono::milliseconds{1'500};
  const auto o = to_json(r);
  BOOST_TEST(o.at("id").as_string() == r.id.str());
  BOOST_TEST(o.at("state").as_string() == "running");
  BOOST_TEST(o.at("name").is_null());
  BOOST_TEST(o.at("ends_at").is_null());
  BOOST_TEST(o.at("timeout").as_double() == 1.5);
  BOOST_TEST(o.at("on_timeout").as_string() == "delete");
  BOOST_TEST(o.at("metadata").at("chat").as_string() == "42");
  BOOST_TEST(o.at("network").as_string() == "public");
  BOOST_TEST(!o.contains("env"));
}

BOOST_AUTO_TEST_CASE(a_process_record_has_a_code_only_when_it_exited) {
  process_record r;
  r.id = make_process_id();
  r.argv = {"sleep", "1"};
  BOOST_TEST(to_json(r).at("state").as_string() == "running");
  BOOST_TEST(to_json(r).at("exit_code").is_null());
  r.reason = process_reason::exited;
  r.exit_code = 3;
  BOOST_TEST(to_json(r).at("state").as_string() == "ended");
  BOOST_TEST(to_json(r).at("exit_code").as_int64() == 3);
  r.reason = process_reason::signaled;
  r.signal = 9;
  BOOST_TEST(to_json(r).at("exit_code").is_null());
  BOOST_TEST(to_json(r).at("signal").as_int64() == 9);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
