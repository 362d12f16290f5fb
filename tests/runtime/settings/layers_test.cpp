#include "runtime/settings/layers.hpp"
#include "runtime/settings/render.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(settings_layers_of_origin)

namespace {

configuration read(const process_environment& variables) {
  settings_layers layers;
  layers.environment(variables);
  auto done = std::move(layers).finish();
  BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().text));
  return *done;
}

std::string complaint(const process_environment& variables) {
  settings_layers layers;
  layers.environment(variables);
  auto done = std::move(layers).finish();
  return done ? "" : done.error().text;
}

std::string file_complaint(const file_entry& entry) {
  settings_layers layers;
  layers.file("config.ini", {entry});
  auto done = std::move(layers).finish();
  return done ? "" : done.error().text;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(lets_flags_win_over_environment_over_file_over_default) {
  auto all = [](int layers) {
    settings_layers s;
    if (layers > 0)
      s.file("config.ini",
             {{.group = "http",
               .name = "listen",
               .text = "127.0.0.1:1",
               .items = {},
               .line = 7}});
    if (layers > 1)
      s.environment({{"TROUPE_HTTP_LISTEN", "127.0.0.1:2"}});
    if (layers > 2)
      s.flag("http.listen", "127.0.0.1:3", "--listen");
    auto done = std::move(s).finish().value();
    auto key = find_setting("http.listen");
    return done.values.http.listen + " " + done.origin_of(*key).where;
  };
  BOOST_TEST(all(0) == "127.0.0.1:8283 default");
  BOOST_TEST(all(1) == "127.0.0.1:1 config.ini:7");
  BOOST_TEST(all(2) == "127.0.0.1:2 TROUPE_HTTP_LISTEN");
  BOOST_TEST(all(3) == "127.0.0.1:3 --listen");
}

BOOST_AUTO_TEST_CASE(takes_every_setting_from_its_own_variable) {
  for (auto& key : setting_keys()) {
    settings_layers layers;
    settings standard;
    auto slot = key.slot(standard);
    std::string text = "x";
    if (std::holds_alternative<bool*>(slot))
      text = "true";
    else if (std::holds_alternative<std::chrono::milliseconds*>(slot))
      text = std::to_string(static_cast<std::int64_t>(key.max)) + "ms";
    else if (std::holds_alternative<std::uint64_t*>(slot))
      text = std::to_string(static_cast<std::uint64_t>(key.max));
    else if (!std::holds_alternative<std::string*>(slot) && !key.is_secret()
             && !std::holds_alternative<std::vector<std::string>*>(slot))
      text = std::to_string(static_cast<std::uint64_t>(key.max));
    else if (key.form == text_form::choice)
      text = key.choices.substr(0, key.choices.find('|'));
    else if (key.form == text_form::url)
      text = "https://x";
    else if (key.form == text_form::address)
      text = "x:1";
    else if (key.form == text_form::host_rule)
      text = "x.org";
    layers.environment({{key.variable(), text}});
    auto done = std::move(layers).finish();
    // A value may contradict another setting, but it must have been read.
    if (done)
      BOOST_TEST(done->origin_of(key).where == key.variable());
    else
      BOOST_TEST(!contains(done.error().text, "expected"), done.error().text);
  }
}

BOOST_AUTO_TEST_CASE(knows_the_names_of_letta_and_of_the_providers) {
  auto c = read({{"E2B_API_KEY", "k1"},
                 {"E2B_SANDBOX_TEMPLATE_ID", "tpl"},
                 {"MODAL_TOKEN_ID", "ak-1"},
                 {"MODAL_TOKEN_SECRET", "as-1"},
                 {"TOOL_EXEC_DIR", "/tools"},
                 {"TOOL_SANDBOX_TIMEOUT", "90"},
                 {"TOOL_EXEC_VENV_NAME", "env"},
                 {"TOOL_EXEC_AUTORELOAD_VENV", "false"},
                 {"STEP_ORCHESTRATOR_ENDPOINT", "https://step.example/"},
                 {"STEP_COMPLETE_KEY", "bearer"},
                 {"LETTA_ENCRYPTION_KEY", "letta"},
                 {"LETTA_SERVER_SECURE", "true"},
                 {"LETTA_SERVER_PASSWORD", "word"},
                 {"DAYTONA_API_KEY", "dtn_1"},
                 {"DAYTONA_API_URL", "https://d.example/api"},
                 {"DAYTONA_TARGET", "eu"},
                 {"SANDBOX_HOST", "localhost"},
                 {"SANDBOX_PORT", "8091"}});
  auto& s = c.values;
  BOOST_TEST(s.e2b.api_key.reveal() == "k1");
  BOOST_TEST(s.e2b.template_id == "tpl");
  BOOST_TEST(s.modal.token_id.reveal() == "ak-1");
  BOOST_TEST(s.modal.token_secret.reveal() == "as-1");
  BOOST_TEST(s.local.sandbox_dir == "/tools");
  BOOST_TEST((s.limits.standard.wall == 90s));
  BOOST_TEST(s.local.venv_name == "env");
  BOOST_TEST(!s.local.venv_autoreload);
  BOOST_TEST(s.credentials.webhook_url
             == "https://step.example/webhook/sandbox-credentials");
  BOOST_TEST(s.credentials.webhook_key.reveal() == "bearer");
  BOOST_TEST(s.compat.letta_encryption_key.reveal() == "letta");
  BOOST_TEST(s.compat.letta_secure);
  BOOST_TEST(s.compat.letta_password.reveal() == "word");
  BOOST_TEST(s.daytona.api_key.reveal() == "dtn_1");
  BOOST_TEST(s.daytona.api_url == "https://d.example/api");
  BOOST_TEST(s.daytona.target == "eu");
  BOOST_TEST(s.aio.host == "localhost");
  BOOST_TEST(s.aio.port == 8091u);
}

BOOST_AUTO_TEST_CASE(knows_the_names_that_letta_only_writes_about) {
  auto c = read({{"LETTA_TOOL_EXECUTION_DIR", "/a"},
                 {"LETTA_TOOL_SANDBOX_VENV_NAME", "v"},
                 {"LETTA_TOOL_SANDBOX_TIMEOUT", "1.5"},
                 {"SANDBOX_CREDENTIALS_WEBHOOK", "https://hook.example/x"},
                 {"SANDBOX_CREDENTIALS_KEY", "k"},
                 {"DAYTONA_SERVER_URL", "https://old.example/api"}});
  BOOST_TEST(c.values.local.sandbox_dir == "/a");
  BOOST_TEST(c.values.local.venv_name == "v");
  BOOST_TEST((c.values.limits.standard.wall == 1500ms));
  BOOST_TEST(c.values.credentials.webhook_url == "https://hook.example/x");
  BOOST_TEST(c.values.credentials.webhook_key.reveal() == "k");
  BOOST_TEST(c.values.daytona.api_url == "https://old.example/api");
  BOOST_TEST(read({{"LETTA_TOOL_SANDBOX_DIR", "/b"}}).values.local.sandbox_dir
             == "/b");
}

BOOST_AUTO_TEST_CASE(takes_an_alias_in_any_case_and_our_own_name_first) {
  auto key = find_setting("e2b.api-key");
  auto c = read({{"e2b_api_key", "lower"}});
  BOOST_TEST(c.values.e2b.api_key.reveal() == "lower");
  c = read({{"E2B_API_KEY", "theirs"}, {"TROUPE_E2B_API_KEY", "ours"}});
  BOOST_TEST(c.values.e2b.api_key.reveal() == "ours");
  BOOST_TEST(c.origin_of(*key).where == "TROUPE_E2B_API_KEY");
}

BOOST_AUTO_TEST_CASE(takes_an_empty_variable_for_none) {
  auto c = read({{"E2B_API_KEY", ""}, {"TROUPE_HTTP_LISTEN", ""}});
  BOOST_TEST(c.origins.empty());
}

BOOST_AUTO_TEST_CASE(reads_a_secret_from_a_file) {
  auto path = std::filesystem::temp_directory_path()
    / ("troupe-secret-" + std::to_string(::getpid()));
  std::ofstream{path} << "from-a-file\n";
  auto c = read({{"TROUPE_E2B_API_KEY_FILE", path.string()}});
  BOOST_TEST(c.values.e2b.api_key.reveal() == "from-a-file");
  std::filesystem::remove(path);
  BOOST_TEST(contains(complaint({{"TROUPE_E2B_API_KEY_FILE", path.string()}}),
                      "cannot be read"));
}

BOOST_AUTO_TEST_CASE(warns_of_a_secret_file_that_everybody_may_read) {
  auto path = std::filesystem::temp_directory_path()
    / ("troupe-open-secret-" + std::to_string(::getpid()));
  std::ofstream{path} << "from-a-file\n";
  const auto warnings = [&path](mode_t mode) {
    ::chmod(path.c_str(), mode);
    return read({{"TROUPE_E2B_API_KEY_FILE", path.string()}}).warnings;
  };
  BOOST_TEST(warnings(0600).empty());
  BOOST_TEST(warnings(0640).empty());
  for (mode_t mode : {0644, 0602}) {
    const auto told = warnings(mode);
    BOOST_TEST_REQUIRE(told.size() == 1u);
    BOOST_TEST(contains(told[0], "chmod 600 " + path.string()), told[0]);
  }
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(warns_of_secrets_in_a_file_that_everybody_may_read) {
  const auto in_file = [](const char* group, const char* name, bool open) {
    settings_layers layers;
    layers.file("config.ini",
                {{.group = group,
                  .name = name,
                  .text = "hunter2hunter2",
                  .items = {},
                  .line = 9}},
                open);
    return std::move(layers).finish();
  };
  BOOST_TEST(in_file("e2b", "api-key", false)->warnings.empty());
  BOOST_TEST(in_file("local", "python", true)->warnings.empty());
  auto told = in_file("e2b", "api-key", true);
  BOOST_TEST_REQUIRE(!!told);
  BOOST_TEST_REQUIRE(told->warnings.size() == 1u);
  BOOST_TEST(contains(told->warnings[0], "e2b.api-key"), told->warnings[0]);
  BOOST_TEST(contains(told->warnings[0], "chmod 600 config.ini"));
  BOOST_TEST(!!in_file("storage", "master-key", false));
  auto refused = in_file("storage", "master-key", true);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST(contains(refused.error().text, "config.ini:9: storage.master-key"),
             refused.error().text);
  BOOST_TEST(contains(refused.error().text, "chmod 600 config.ini"));
  BOOST_TEST(!contains(refused.error().text, "hunter2"));
}

BOOST_AUTO_TEST_CASE(warns_about_a_variable_that_means_nothing) {
  auto c = read({{"TROUPE_HTTP_LISTN", "x"},
                 {"TROUPE_HTPP_LISTEN", "x"},
                 {"TROUPE_SOMETHING_ELSE_ALTOGETHER", "x"},
                 {"TROUPE_CONFIG_FILE", "x"},
                 {"TROUPE_RUN_ID", "run-1"}});
  BOOST_TEST(c.warnings.size() == 3u);
  BOOST_TEST(c.warnings.at(0)
             == "TROUPE_HTPP_LISTEN is not the name of a setting; did you mean "
                "TROUPE_HTTP_LISTEN?");
  BOOST_TEST(contains(c.warnings.at(1), "TROUPE_HTTP_LISTEN?"));
  BOOST_TEST(contains(c.warnings.at(2), "is not the name of a setting"));
}

BOOST_AUTO_TEST_CASE(warns_of_names_of_letta_that_mean_nothing_here) {
  auto c = read({{"TAVILY_API_KEY", "tvly-hunter2"},
                 {"mcp_read_from_config", "true"},
                 {"EXA_API_KEY", ""}});
  BOOST_TEST(c.origins.empty());
  BOOST_TEST_REQUIRE(c.warnings.size() == 2u);
  BOOST_TEST(contains(c.warnings[0], "TAVILY_API_KEY has no effect"));
  BOOST_TEST(!contains(c.warnings[0], "hunter2"));
  BOOST_TEST(contains(c.warnings[1], "MCP_READ_FROM_CONFIG"));
}

BOOST_AUTO_TEST_CASE(takes_blanks_around_a_number_of_letta) {
  BOOST_TEST(
    (read({{"TOOL_SANDBOX_TIMEOUT", " 90.0 \n"}}).values.limits.standard.wall
     == 90s));
}

BOOST_AUTO_TEST_CASE(leaves_out_half_a_pair_of_foreign_names) {
  auto c = read({{"MODAL_TOKEN_ID", "ak-1"}, {"STEP_COMPLETE_KEY", "bearer"}});
  BOOST_TEST(c.values.modal.token_id.empty());
  BOOST_TEST(c.values.credentials.webhook_key.empty());
  BOOST_TEST(c.origins.empty());
  BOOST_TEST_REQUIRE(c.warnings.size() == 2u);
  BOOST_TEST(contains(c.warnings[0], "MODAL_TOKEN_ID is ignored"));
  BOOST_TEST(contains(c.warnings[0], "modal.token-secret"));
  BOOST_TEST(contains(c.warnings[1], "STEP_COMPLETE_KEY is ignored"));
}

BOOST_AUTO_TEST_CASE(lets_processor_time_follow_a_longer_wall_time) {
  const auto limits = [](const process_environment& variables) {
    return read(variables).values.limits;
  };
  const settings standard;
  BOOST_TEST((limits({}).standard.cpu == standard.limits.standard.cpu));
  const auto longer = limits({{"TOOL_SANDBOX_TIMEOUT", "600"}}).standard;
  BOOST_TEST((longer.wall == 600s));
  BOOST_TEST((longer.cpu >= 600s));
  BOOST_TEST((
    limits({{"TOOL_SANDBOX_TIMEOUT", "600"}, {"TROUPE_LIMITS_MAX_CPU", "5min"}})
      .standard.cpu
    == 5min));
  BOOST_TEST(
    (limits({{"TOOL_SANDBOX_TIMEOUT", "600"}, {"TROUPE_LIMITS_CPU", "10s"}})
       .standard.cpu
     == 10s));
  BOOST_TEST((limits({{"TOOL_SANDBOX_TIMEOUT", "1"}}).standard.cpu
              == standard.limits.standard.cpu));
}

BOOST_AUTO_TEST_CASE(names_line_key_value_and_what_it_expects) {
  auto text = file_complaint(
    {.group = "aio", .name = "port", .text = "70000", .items = {}, .line = 12});
  BOOST_TEST(text
             == "config.ini:12: aio.port = 70000 is out of range; "
                "expected a whole number from 1 to 65535");
}

BOOST_AUTO_TEST_CASE(names_the_nearest_key) {
  auto text = file_complaint(
    {.group = "http", .name = "listn", .text = "x", .items = {}, .line = 3});
  BOOST_TEST(
    text
    == "config.ini:3: http.listn is not a setting; did you mean http.listen?");
}

BOOST_AUTO_TEST_CASE(refuses_a_value_that_its_setting_cannot_be) {
  auto with = [](const char* group, const char* name, const char* text) {
    return file_complaint(
      {.group = group, .name = name, .text = text, .items = {}, .line = 1});
  };
  BOOST_TEST(
    contains(with("compat", "letta", "maybe"), "expected true or false"));
  BOOST_TEST(contains(with("limits", "wall", "180"), "a duration such as 90s"));
  BOOST_TEST(contains(with("http", "listen", "80"), "has no port"));
  BOOST_TEST(contains(file_complaint({.group = "aio",
                                      .name = "port",
                                      .text = "",
                                      .items = {"80"},
                                      .is_list = true,
                                      .line = 1}),
                      "is a list"));
  BOOST_TEST(with("aio", "port", "80") == "");
  BOOST_TEST(with("limits", "wall", "3min") == "");
  BOOST_TEST(with("limits", "wall", "5m") == "");
  BOOST_TEST(with("limits", "memory", "1GiB") == "");
  BOOST_TEST(with("limits", "memory", "1073741824") == "");
  BOOST_TEST(with("local", "preload", "re, json") == "");
  BOOST_TEST(with("http", "require-key", "yes") == "");
}

BOOST_AUTO_TEST_CASE(reports_every_mistake_at_once) {
  auto text = complaint({{"TROUPE_AIO_PORT", "x"},
                         {"TROUPE_LOG_LEVEL", "loud"},
                         {"E2B_TIMEOUT", "0"}});
  BOOST_TEST(contains(text, "TROUPE_AIO_PORT: aio.port = x is not a number"));
  BOOST_TEST(contains(text, "one of debug, info, warning, error, off"));
  BOOST_TEST(contains(text, "E2B_TIMEOUT: e2b.timeout = 0"));
}

BOOST_AUTO_TEST_CASE(refuses_a_secret_on_the_command_line) {
  settings_layers layers;
  layers.flag("e2b.api-key", "hunter2hunter2", "--e2b.api-key");
  auto done = std::move(layers).finish();
  BOOST_TEST_REQUIRE(!done);
  BOOST_TEST(contains(done.error().text, "TROUPE_E2B_API_KEY"));
  BOOST_TEST(!contains(done.error().text, "hunter2"));
}

BOOST_AUTO_TEST_CASE(never_repeats_a_secret_in_a_complaint) {
  auto text = complaint({{"E2B_API_KEY", "hunter2\nhunter2"}});
  BOOST_TEST(contains(text, "control character"));
  BOOST_TEST(!contains(text, "hunter2"));
}

BOOST_AUTO_TEST_CASE(masks_secrets_when_it_shows_what_is_in_force) {
  auto c = read({{"E2B_API_KEY", "hunter2hunter2"}});
  auto text = render_values(c, true);
  BOOST_TEST(contains(text, "api-key = \"***\" ; E2B_API_KEY"));
  BOOST_TEST(!contains(text, "hunter2"));
  auto as_json = json::to_text(values_json(c));
  BOOST_TEST(contains(as_json, R"("where":"E2B_API_KEY")"));
  BOOST_TEST(!contains(as_json, "hunter2"));
}

BOOST_AUTO_TEST_CASE(refuses_settings_that_contradict_each_other) {
  BOOST_TEST(
    contains(complaint({{"TROUPE_LIMITS_WALL", "2h"}}), "limits.max-wall"));
  BOOST_TEST(contains(complaint({{"TROUPE_HTTP_TLS_KEY", "k.pem"}}),
                      "needs http.tls-certificate as well"));
  BOOST_TEST(contains(complaint({{"TROUPE_MODAL_TOKEN_ID", "ak-1"}}),
                      "TROUPE_MODAL_TOKEN_ID: modal.token-id needs "
                      "modal.token-secret as well"));
  BOOST_TEST(contains(complaint({{"LETTA_SERVER_SECURE", "true"}}),
                      "LETTA_SERVER_PASSWORD"));
  BOOST_TEST(contains(complaint({{"TROUPE_CLUSTER_NAME", "a"}}), "cluster.ca"));
}

BOOST_AUTO_TEST_SUITE_END()
