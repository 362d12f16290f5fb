#include "app/assembly/options_from_settings.hpp"
#include "app/assembly/provider_options.hpp"
#include "app/daemon/engine_process.hpp"
#include "app/daemon/http_options.hpp"
#include "tests/app/ask.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(hosts)

namespace {

/// Without local runs: those need a main that can be a warden.
configuration in(const temporary_folder& folder) {
  configuration c;
  c.values.engine.data_dir = folder.path / "data";
  c.values.engine.drain_timeout = 5s;
  c.values.http.listen = "127.0.0.1:0";
  c.values.local.enabled = false;
  return c;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

std::unique_ptr<engine_process> open(const configuration& c) {
  auto opened = engine_process::open(c);
  BOOST_REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().text));
  return std::move(*opened);
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_as_soon_as_it_is_open) {
  temporary_folder folder;
  auto h = open(in(folder));
  BOOST_TEST_REQUIRE(h->addresses().size() == 1u);
  BOOST_TEST(contains(ask(h->addresses()[0], "GET /livez"), " 200 "));
  h->stop();
}

BOOST_AUTO_TEST_CASE(keeps_its_data_private) {
  temporary_folder folder;
  auto h = open(in(folder));
  auto mode = std::filesystem::status(folder.path / "data").permissions();
  BOOST_TEST((mode == std::filesystem::perms::owner_all));
}

BOOST_AUTO_TEST_CASE(refuses_to_share_its_data) {
  temporary_folder folder;
  auto first = open(in(folder));
  auto second = engine_process::open(in(folder));
  BOOST_TEST_REQUIRE(!second);
  BOOST_TEST(contains(second.error().text, std::to_string(::getpid())),
             second.error().text);
  first->stop();
  open(in(folder))->stop();
}

BOOST_AUTO_TEST_CASE(refuses_an_address_that_is_taken) {
  temporary_folder one, other;
  auto first = open(in(one));
  auto c = in(other);
  c.values.http.listen = first->addresses()[0];
  auto second = engine_process::open(c);
  BOOST_TEST_REQUIRE(!second);
  BOOST_TEST(contains(second.error().text, first->addresses()[0]),
             second.error().text);
}

BOOST_AUTO_TEST_CASE(refuses_a_public_address_without_any_key) {
  temporary_folder folder;
  auto c = in(folder);
  c.values.http.listen = "0.0.0.0:0";
  BOOST_TEST(!engine_process::open(c));
}

BOOST_AUTO_TEST_CASE(serves_letta_clients_unless_told_not_to) {
  temporary_folder folder;
  auto c = in(folder);
  auto h = open(c);
  BOOST_TEST(
    contains(ask(h->addresses()[0], "GET /compat/letta/v1/health/"), " 200 "));
  h->stop();
  c.values.compat.letta = false;
  h = open(c);
  BOOST_TEST(
    contains(ask(h->addresses()[0], "GET /compat/letta/v1/health/"), " 404 "));
}

BOOST_AUTO_TEST_CASE(asks_letta_clients_for_their_password_when_told_to) {
  temporary_folder folder;
  auto c = in(folder);
  c.values.compat.letta_secure = true;
  c.values.compat.letta_password = secret{"word"};
  auto h = open(c);
  auto list = [&](const std::string& field) {
    return ask(h->addresses()[0], "GET /compat/letta/v1/tools/", {}, field);
  };
  for (auto right :
       {"Authorization: Bearer word\r\n", "X-BARE-PASSWORD: password word\r\n"})
    BOOST_TEST(contains(list(right), " 200 "), right);
  for (auto wrong :
       {"", "Authorization: Bearer sword\r\n", "Authorization: Bearer \r\n",
        "Authorization: word\r\n", "X-BARE-PASSWORD: word\r\n"}) {
    auto answer = list(wrong);
    BOOST_TEST(contains(answer, " 401 "), wrong);
    BOOST_TEST(contains(answer, R"({"detail":"Unauthorized"})"), answer);
  }
  BOOST_TEST(
    contains(ask(h->addresses()[0], "GET /compat/letta/v1/health/"), " 200 "));
  BOOST_TEST(contains(ask(h->addresses()[0], "GET /v1/tools"), " 200 "));
}

BOOST_AUTO_TEST_CASE(shows_values_to_letta_clients_only_when_told_to) {
  for (bool reveal : {false, true}) {
    temporary_folder folder;
    auto c = in(folder);
    c.values.compat.reveal_values = reveal;
    auto h = open(c);
    auto at = h->addresses()[0];
    auto base = std::string{"/compat/letta/v1/sandbox-config/"};
    auto made = ask(at, "POST " + base + "local/default");
    auto id = made.substr(made.find("sandbox-"), 44);
    auto place = base + id + "/environment-variable";
    auto put = ask(at, "POST " + place, R"({"key":"A","value":"hidden-1"})");
    BOOST_TEST(contains(put, "hidden-1") == reveal, put);
    BOOST_TEST(contains(ask(at, "GET " + place), "hidden-1") == reveal);
  }
}

BOOST_AUTO_TEST_CASE(reads_bodies_as_large_as_the_settings_say) {
  temporary_folder folder;
  auto c = in(folder);
  c.values.http.max_body = 20u << 20;
  auto h = open(c);
  const auto at = h->addresses()[0];
  const std::string large(17u << 20, 'x'); // the parser's own bound is 16 MiB
  for (auto path : {"/v1/runs", "/compat/letta/v1/tools/run"}) {
    const auto answer = ask(at, std::string{"POST "} + path,
                            R"({"nothing": ")" + large + R"("})");
    BOOST_TEST(contains(answer, " 422 "), path);
    BOOST_TEST(!contains(answer, "must be a JSON object"), path);
  }
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong_with_the_json_of_a_body) {
  temporary_folder folder;
  auto h = open(in(folder));
  auto answer
    = ask(h->addresses()[0], "POST /v1/runs", R"({"hunter2": hunter2})");
  BOOST_TEST(contains(answer, " 400 "), answer);
  BOOST_TEST(contains(answer, "not valid JSON at byte 12: expected a value"),
             answer);
  BOOST_TEST(!contains(answer, "hunter2"), answer);
}

BOOST_AUTO_TEST_CASE(serves_metrics_unless_told_not_to) {
  temporary_folder folder;
  auto c = in(folder);
  c.values.telemetry.metrics = false;
  auto h = open(c);
  BOOST_TEST(contains(ask(h->addresses()[0], "GET /metrics"), " 404 "));
}

BOOST_AUTO_TEST_CASE(shows_runs_the_directory_that_an_operator_named) {
  settings s;
  s.local.shared_dirs = {"/srv/more"};
  auto usual = environment_options_from(s);
  // What lies at the usual place was not meant for us.
  BOOST_TEST(usual.shared_dirs.size() == 1u);
  BOOST_TEST(usual.standard_dir == expand_home(s.local.sandbox_dir));
  s.local.sandbox_dir = "/srv/tools";
  auto named = environment_options_from(s);
  BOOST_TEST(named.shared_dirs.size() == 2u);
  BOOST_TEST(named.shared_dirs.back() == "/srv/tools");
}

BOOST_AUTO_TEST_CASE(hands_the_name_of_the_venv_to_every_default) {
  settings s;
  s.local.venv_name = "env";
  BOOST_TEST(engine_options_from(s).rules.configs.venv_name == "env");
  BOOST_TEST(store_options_from(s).catalog.defaults.venv_name == "env");
}

BOOST_AUTO_TEST_CASE(knows_hosts_as_the_listener_sees_them) {
  settings s;
  s.http.allowed_hosts = {"Example.ORG", "[::1]"};
  auto hosts = server_options_from(s).allowed_hosts;
  BOOST_TEST(hosts.at(0) == "example.org");
  BOOST_TEST(hosts.at(1) == "::1");
}

BOOST_AUTO_TEST_CASE(remembers_keys_for_as_long_as_it_promised) {
  settings s;
  s.idempotency.ttl = 90min;
  BOOST_TEST((store_options_from(s).idempotency.keep >= 90min));
  BOOST_TEST((api_options_from(s).remember_for >= 90min));
}

BOOST_AUTO_TEST_CASE(maps_settings_onto_the_options_of_each_room) {
  settings s;
  s.local.isolation = "strict";
  s.local.network = "allow";
  s.local.network_allow = {"pypi.org:443"};
  s.limits.ceiling.processes = 99;
  s.dispatch.max_running_per_backend = 7;
  s.e2b.max_sandboxes = 3;
  s.credentials.on_error = "fail";
  auto engine = engine_options_from(s);
  BOOST_TEST((engine.rules.weakest == isolation_level::strict));
  BOOST_TEST((engine.rules.network.mode == network_mode::listed));
  BOOST_TEST(engine.rules.network.allow.at(0) == "pypi.org:443");
  BOOST_TEST(engine.rules.ceiling.processes == 99u);
  BOOST_TEST(engine.admission.running_per_backend.at(backend_kind::local)
             == 7u);
  BOOST_TEST(engine.admission.running_per_backend.at(backend_kind::e2b) == 3u);
  BOOST_TEST((engine.credentials.when_webhook_fails
              == credential_rules::on_error::fail));
  s.daytona.prewarmed_sandboxes = 2;
  BOOST_TEST(find_account(s, "daytona")->limits().prewarmed == 2u);
  s.modal.image_builder_version = "2025.06";
  s.modal.libmodal_version = "modal-js/9.9.9";
  auto modal = modal_options_from(s);
  BOOST_TEST(modal.builder_version == "2025.06");
  BOOST_TEST(modal.libmodal_version == "modal-js/9.9.9");
  BOOST_TEST(modal.client_type == "8");
  s.storage.master_key = secret{std::string(64, 'a')};
  auto kept = store_options_from(s);
  BOOST_TEST(kept.master.lookup(kept.master.variable).value()
             == std::string(64, 'a'));
  auto source = key_source::open(kept.master, false);
  BOOST_TEST_REQUIRE(!source);
  BOOST_TEST(contains(source.error().text, "the setting storage.master-key"));
}

BOOST_AUTO_TEST_SUITE_END()
