#include "runtime/settings/load.hpp"
#include "runtime/settings/render.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(config_file)

namespace {

result<configuration> read(std::string text) {
  settings_layers layers;
  read_config("config.ini", {std::move(text)}, layers);
  return std::move(layers).finish();
}

settings values(std::string text) {
  auto done = read(std::move(text));
  BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().text));
  return done->values;
}

std::string complaint(std::string text) {
  auto done = read(std::move(text));
  return done ? "" : done.error().text;
}

struct temporary_file {
  std::filesystem::path path;
  explicit temporary_file(std::string_view text)
      : path{std::filesystem::temp_directory_path()
             / ("troupe-config-" + std::to_string(::getpid()) + ".ini")} {
    std::ofstream{path} << text;
  }
  ~temporary_file() { std::filesystem::remove(path); }
};

} // namespace

BOOST_AUTO_TEST_CASE(reads_every_type_of_value) {
  auto s = values("[http]\n"
                  "listen = \"[::1]:9000\" ; with a comment\n"
                  "max-body = 4096\n"
                  "max-header = \"8KiB\"\n"
                  "idle-timeout = 2min\n"
                  "[log]\n"
                  "level = 'debug'\n"
                  "[local]\n"
                  "enabled = false\n"
                  "preload = [\"re\", ; first\n  \"json\"]\n"
                  "[telemetry]\n"
                  "trace-sample-ratio = 0.25\n"
                  "[e2b]\n"
                  "api-key = \"k\"");
  BOOST_TEST(s.http.listen == "[::1]:9000");
  BOOST_TEST(s.http.max_body == 4096u);
  BOOST_TEST(s.http.max_header == 8192u);
  BOOST_TEST((s.http.idle_timeout == 2min));
  BOOST_TEST(s.log.level == "debug");
  BOOST_TEST(!s.local.enabled);
  BOOST_TEST((s.local.preload == settings::texts{"re", "json"}));
  BOOST_TEST(s.telemetry.trace_sample_ratio == 0.25);
  BOOST_TEST(s.e2b.api_key.reveal() == "k");
}

BOOST_AUTO_TEST_CASE(reads_bare_words_as_an_operator_writes_them) {
  auto s = values("# the listener\n[http]\nlisten = 127.0.0.1:9000 # here\n"
                  "require-key = yes\n[limits]\nwall = 5m\n"
                  "[local]\nnetwork = off\npreload = [re, json]\n"
                  "[e2b]\napi-url = https://e2b.example/x\n");
  BOOST_TEST(s.http.listen == "127.0.0.1:9000");
  BOOST_TEST(s.http.require_key);
  BOOST_TEST((s.limits.standard.wall == 5min));
  BOOST_TEST(s.local.network == "off");
  BOOST_TEST((s.local.preload == settings::texts{"re", "json"}));
}

BOOST_AUTO_TEST_CASE(tells_syntax_and_values_in_one_go) {
  auto text = complaint("[aio]\nport = 0\n[log]\nlevel\nqueue = \"x\n"
                        "[http]\nlisten = nowhere\n");
  for (auto place : {"config.ini:2: aio.port", "config.ini:4: level",
                     "config.ini:5: log.queue", "config.ini:7: http.listen"})
    BOOST_TEST(text.find(place) != text.npos, text);
}

BOOST_AUTO_TEST_CASE(wants_the_provider_that_nothing_may_run_without) {
  const auto text = complaint("[dispatch]\nfail-closed = true");
  BOOST_TEST(text.find("dispatch.fail-closed") != std::string::npos, text);
  BOOST_TEST(text.find("e2b.api-key is not set") != std::string::npos, text);
  for (auto fine :
       {"[dispatch]\nfail-closed = true\ndefault-backend = \"local\"",
        "[dispatch]\nfail-closed = true\n[e2b]\napi-key = \"k\"",
        "[dispatch]\nfail-closed = true\ndefault-backend = \"aio\"\n"
        "[aio]\nhost = \"sandboxes.example.org\""})
    BOOST_TEST(complaint(fine) == "");
}

BOOST_AUTO_TEST_CASE(changes_nothing_when_every_line_is_a_comment) {
  auto done = read(render_ini());
  BOOST_TEST_REQUIRE(!!done);
  BOOST_TEST(done->origins.empty());
}

BOOST_AUTO_TEST_CASE(reads_its_own_defaults_back) {
  // Every setting with the comment taken away: the file is a working one.
  std::string text;
  for (auto line = render_ini(); !line.empty();) {
    auto end = line.find('\n');
    auto one = line.substr(0, end);
    line.erase(0, end + 1);
    if (one.starts_with(';') && !one.starts_with("; "))
      one.erase(0, 1);
    text += one + "\n";
  }
  auto done = read(text);
  BOOST_TEST_REQUIRE(!!done, (done ? "" : done.error().text));
  BOOST_TEST(done->origins.size() == setting_keys().size());
  BOOST_TEST(render_values(*done, false) == render_values({}, false));
}

BOOST_AUTO_TEST_CASE(reads_files_from_other_editors) {
  auto s = values("\xEF\xBB\xBF[http]\r\nlisten = \"a:1\"\r\n");
  BOOST_TEST(s.http.listen == "a:1");
}

BOOST_AUTO_TEST_CASE(refuses_a_number_that_would_be_cut) {
  BOOST_TEST(complaint("\n[aio]\nport = 70000\n")
             == "config.ini:3: aio.port = 70000 is out of range; "
                "expected a whole number from 1 to 65535");
  BOOST_TEST(complaint("[aio]\nport = -1\n").find("out of range")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuses_a_number_that_not_even_a_parser_can_hold) {
  auto text = complaint("[aio]\nport = 99999999999999999999\n");
  BOOST_TEST(text.find("config.ini:2:") == 0u, text);
}

BOOST_AUTO_TEST_CASE(refuses_a_duration_that_would_wrap_around) {
  // In nanoseconds this is more than 64 bits hold.
  auto text = complaint("[limits]\nwall = 9999999999999h\n");
  BOOST_TEST(text.find("config.ini:2: limits.wall") == 0u, text);
  BOOST_TEST(text.find("from 1ms to 24h") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(refuses_a_value_of_the_wrong_type) {
  for (auto line :
       {"aio]\nport = 1.5", "aio]\nport = true", "aio]\nport = 1s",
        "aio]\nport = [1]", "http]\nlisten = 8283", "limits]\nwall = 180",
        "local]\nenabled = maybe", "http]\nlisten = {a = 1}",
        "e2b]\napi-url = <https://a>", "log]\nlevel = loud"}) {
    auto text = complaint(std::string{"["} + line + "\n");
    BOOST_TEST(text.find("config.ini:2:") == 0u, line << " gave " << text);
    BOOST_TEST(text.find("expected") != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(names_the_nearest_key_and_group) {
  BOOST_TEST(
    complaint("[http]\n\nlistn = \"a:1\"\n")
    == "config.ini:3: http.listn is not a setting; did you mean http.listen?");
  BOOST_TEST(
    complaint("[htp]\nlisten = \"a:1\"\n")
    == "config.ini:2: htp.listen is not a setting; did you mean http.listen?");
  BOOST_TEST(complaint("listen = \"a:1\"\n")
             == "config.ini:1: global.listen is not a setting; did you mean "
                "http.listen?");
  BOOST_TEST(complaint("[http.listen]\nx = 1\n").find("is")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuses_keys_and_groups_that_stand_twice) {
  BOOST_TEST(complaint("[log]\nlevel = 'info'\nlevel = 'debug'\n")
             == "config.ini:3: log.level is already set in line 2 already; "
                "keep one of them");
  BOOST_TEST(complaint("[log]\nlevel = 'info'\n[http]\n[log]\nqueue = 16\n")
               .find("config.ini:4: [log] is already set in line 1 already")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_the_line_of_a_syntax_error) {
  for (auto [text, place] :
       {std::pair{"[log]\n\nlevel = \"debug\n", "config.ini:3:"},
        {"[log\nlevel = \"debug\"\n", "config.ini:1:"},
        {"[log]\nqueue = 16\nlevel\n", "config.ini:3:"},
        {"[log]\nqueue = 16\nlevel =", "config.ini:3:"},
        {"[local]\npreload = [\"a\",\n\"b\"\n", "config.ini:2:"},
        {"[local]\npreload = [\"a\"\nb]\n\n[log]\n", "config.ini:3:"}}) {
    auto found = complaint(text);
    BOOST_TEST(found.find(place) == 0u, text << " gave " << found);
  }
}

BOOST_AUTO_TEST_CASE(reports_every_mistake_of_a_file_at_once) {
  auto text = complaint("[aio]\nport = 0\n[log]\nlevel = 'loud'\nfoo = 1\n");
  BOOST_TEST(text.find("config.ini:2: aio.port") != std::string::npos);
  BOOST_TEST(text.find("config.ini:4: log.level") != std::string::npos);
  BOOST_TEST(text.find("config.ini:5: log.foo") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lays_environment_and_flags_over_a_file) {
  temporary_file file{"[http]\nlisten = \"a:1\"\n[aio]\nport = 2\n"
                      "[log]\nlevel = 'debug'\n"};
  settings_sources from;
  from.file = file.path;
  from.variables = {{"SANDBOX_PORT", "3"}, {"TROUPE_LOG_LEVEL", "error"}};
  from.flags = {{"log.level", "warning", "--log.level"}};
  auto done = load_settings(from);
  BOOST_TEST_REQUIRE(!!done);
  BOOST_TEST(done->values.http.listen == "a:1");
  BOOST_TEST(done->values.aio.port == 3u);
  BOOST_TEST(done->values.log.level == "warning");
  BOOST_TEST(done->origin_of(*find_setting("http.listen")).where
             == file.path.string() + ":2");
  BOOST_TEST(done->origin_of(*find_setting("log.level")).where
             == "--log.level");
}

BOOST_AUTO_TEST_CASE(insists_on_a_file_that_was_named_and_on_no_other) {
  settings_sources from;
  from.standard_files = {"/nowhere/config.ini"};
  BOOST_TEST(!!load_settings(from));
  from.file = "/nowhere/config.ini";
  auto done = load_settings(from);
  BOOST_TEST_REQUIRE(!done);
  BOOST_TEST(done.error().text.find("/nowhere/config.ini: cannot be read")
             == 0u);
}

BOOST_AUTO_TEST_CASE(takes_only_a_missing_file_for_an_absent_one) {
  settings_sources from;
  // A folder stands for everything that is there and cannot be read.
  from.standard_files = {"/dev/null/config.ini", "/dev"};
  auto done = load_settings(from);
  BOOST_TEST_REQUIRE(!done);
  BOOST_TEST(done.error().text.find("/dev: cannot be read") == 0u,
             done.error().text);
}

BOOST_AUTO_TEST_CASE(looks_who_else_may_read_a_file_with_secrets) {
  temporary_file file{"[e2b]\napi-key = \"hunter2hunter2\"\n"};
  settings_sources from;
  from.file = file.path;
  ::chmod(file.path.c_str(), 0640);
  BOOST_TEST(load_settings(from)->warnings.empty());
  ::chmod(file.path.c_str(), 0644);
  auto done = load_settings(from);
  BOOST_TEST_REQUIRE(!!done);
  BOOST_TEST(done->values.e2b.api_key.reveal() == "hunter2hunter2");
  BOOST_TEST(done->warnings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(survives_any_bytes) {
  const std::string good = "[http]\nlisten = \"a:1\" ; x\n[local]\n"
                           "preload = [\"re\",\n\"js\"]\n[limits]\n"
                           "wall = 90s\nmemory = \"1GiB\"\n";
  std::mt19937 random{20261119}; // always the same ones
  for (int i = 0; i < 2'000; ++i) {
    auto text = good;
    for (int changes = 1 + i % 8; changes > 0; --changes) {
      const auto at = random() % text.size();
      if (random() % 4 == 0)
        text.erase(at, random() % 16);
      else
        text[at] = static_cast<char>(random());
      if (text.empty())
        break;
    }
    // Any outcome will do, as long as a refusal says where.
    if (const auto told = complaint(text); !told.empty())
      BOOST_TEST(told.find("config.ini") != std::string::npos, told);
  }
}

BOOST_AUTO_TEST_CASE(refuses_a_file_that_is_too_large_or_a_folder) {
  temporary_file file{std::string(2u << 20, ';')};
  settings_sources from;
  from.file = file.path;
  BOOST_TEST(!load_settings(from));
  from.file = std::filesystem::temp_directory_path();
  BOOST_TEST(!load_settings(from));
}

BOOST_AUTO_TEST_SUITE_END()
