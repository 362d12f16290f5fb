#include "runtime/settings/value.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(setting_values)

namespace {

const setting_key& key(std::string_view path) {
  auto found = find_setting(path);
  BOOST_REQUIRE_MESSAGE(found, path << " is not a setting");
  return *found;
}

std::string complaint(std::string_view path, std::string_view text) {
  settings s;
  auto done = assign(s, key(path), text);
  return done ? "" : done.error().text;
}

} // namespace

BOOST_AUTO_TEST_CASE(reads_durations_with_every_unit) {
  BOOST_TEST((parse_duration("250ms").value() == 250ms));
  BOOST_TEST((parse_duration("30s").value() == 30s));
  BOOST_TEST((parse_duration("1.5min").value() == 90s));
  BOOST_TEST((parse_duration("2h").value() == 2h));
  BOOST_TEST((parse_duration("1d").value() == 24h));
  for (auto bad : {"", "30", "s", "30 parsecs", "-1s", "1e3s", "nan s", "infs",
                   "99999999999999999999h", "1s2"})
    BOOST_TEST(!parse_duration(bad), bad);
}

BOOST_AUTO_TEST_CASE(spells_durations_so_that_they_read_back) {
  for (auto value : {0ms, 1ms, 1500ms, 30'000ms, 90'000ms, 3'600'000ms})
    BOOST_TEST((parse_duration(spell_duration(value)).value() == value));
  BOOST_TEST(spell_duration(90s) == "90s");
  BOOST_TEST(spell_duration(1h) == "1h");
}

BOOST_AUTO_TEST_CASE(reads_sizes_with_every_unit) {
  BOOST_TEST(parse_size("4096").value() == 4096u);
  BOOST_TEST(parse_size("64KiB").value() == 64u << 10);
  BOOST_TEST(parse_size("512 MiB").value() == 512u << 20);
  BOOST_TEST(parse_size("1.5 GiB").value() == 1536ull << 20);
  BOOST_TEST(parse_size("1MB").value() == 1'000'000u);
  for (auto bad : {"", "MiB", "-1", "1 XiB", "1e9", "99999999999 TiB", "1.2.3"})
    BOOST_TEST(!parse_size(bad), bad);
}

BOOST_AUTO_TEST_CASE(refuses_what_is_out_of_range_instead_of_wrapping) {
  BOOST_TEST(complaint("aio.port", "65535").empty());
  BOOST_TEST(complaint("aio.port", "65536") == "is out of range");
  BOOST_TEST(complaint("aio.port", "4294967297") == "is out of range");
  BOOST_TEST(complaint("aio.port", "-1") == "is out of range");
  BOOST_TEST(complaint("aio.port", "80.5") == "is not a whole number");
  BOOST_TEST(complaint("aio.port", "http") == "is not a number");
  BOOST_TEST(complaint("limits.wall", "25h") == "is out of range");
  BOOST_TEST(complaint("limits.memory", "1MiB") == "is out of range");
  BOOST_TEST(complaint("telemetry.trace-sample-ratio", "1.01")
             == "is out of range");
}

BOOST_AUTO_TEST_CASE(reads_booleans_as_letta_reads_them) {
  const auto is = [](std::string_view text) {
    settings s;
    BOOST_TEST(!!assign(s, key("local.warm-python"), text), text);
    return s.local.warm_python;
  };
  for (auto text : {"TRUE", "True", "t", "Y", "yes", "On", "1", " true "})
    BOOST_TEST(is(text), text);
  for (auto text : {"FALSE", "F", "n", "No", "OFF", "0"})
    BOOST_TEST(!is(text), text);
  for (auto text : {"tru", "2", "", "truee"})
    BOOST_TEST(complaint("local.warm-python", text)
               == "is neither true nor false");
}

BOOST_AUTO_TEST_CASE(tells_counts_from_sizes) {
  BOOST_TEST(complaint("limits.processes", "64KiB") == "is not a number");
  BOOST_TEST(complaint("limits.inodes", "70.5") == "is not a whole number");
  BOOST_TEST(complaint("limits.inodes", "70") == "");
  BOOST_TEST(key("limits.open-files").expects()
             == "a whole number from 16 to 1048576");
  BOOST_TEST(spelled({}, key("limits.open-files")) == "1024");
}

BOOST_AUTO_TEST_CASE(refuses_an_entry_that_nothing_could_match) {
  const auto refuses
    = [](const char* path, const std::string& right, const std::string& wrong) {
        BOOST_TEST(complaint(path, right) == "");
        const auto told = complaint(path, right + ", " + wrong);
        BOOST_TEST(told.find("has '" + wrong + "', which") == 0u, told);
      };
  refuses("local.network-allow", "pypi.org:443", "https://pypi.org");
  refuses("local.network-allow", "10.0.0.0/8", "*.*.org");
  refuses("http.allowed-hosts", "Example.org", "https://example.org");
  refuses("http.allowed-hosts", "[::1]", "example.org:8283");
  refuses("local.pass-environment", "LANG", "A=B");
  refuses("cluster.seeds", "node-2:8284", "node-2");
}

BOOST_AUTO_TEST_CASE(leaves_the_old_value_when_it_refuses_a_new_one) {
  settings s;
  BOOST_TEST(!assign(s, key("aio.port"), "70000"));
  BOOST_TEST(s.aio.port == settings{}.aio.port);
}

BOOST_AUTO_TEST_CASE(knows_addresses_urls_hosts_and_choices) {
  for (auto good : {"127.0.0.1:8283", "[::1]:0", "host.name:65535"})
    BOOST_TEST(complaint("http.listen", good) == "", good);
  for (auto bad : {"8283", "host", "host:", "host:70000", ":80", "a b:80",
                   "[::1:80", "host:80x", "h\nost:80"})
    BOOST_TEST(complaint("http.listen", bad) != "", bad);
  for (auto good : {"https://a.b/c?d=e", "http://127.0.0.1:3000",
                    "https://[::1]:443/x", "https://host"})
    BOOST_TEST(complaint("e2b.api-url", good) == "", good);
  for (auto bad : {"ftp://a", "https://", "https:///x", "a.b", "https://a b",
                   "https://user:word@host", "https://a:99999"})
    BOOST_TEST(complaint("e2b.api-url", bad) != "", bad);
  BOOST_TEST(complaint("aio.host", "a/b") == "is not a host name");
  BOOST_TEST(complaint("log.level", "debug") == "");
  BOOST_TEST(complaint("log.level", "loud") == "is not one of the choices");
  BOOST_TEST(complaint("log.level", "debug|info")
             == "is not one of the choices");
}

BOOST_AUTO_TEST_CASE(splits_lists_at_commas) {
  settings s;
  BOOST_TEST_REQUIRE(!!assign(s, key("local.preload"), " re , json,math "));
  BOOST_TEST((s.local.preload == settings::texts{"re", "json", "math"}));
  BOOST_TEST_REQUIRE(!!assign(s, key("local.preload"), ""));
  BOOST_TEST(s.local.preload.empty());
  BOOST_TEST(complaint("local.preload", "a,,b") == "has an empty entry");
}

BOOST_AUTO_TEST_CASE(spells_every_default_so_that_it_reads_back) {
  for (auto& k : setting_keys()) {
    settings standard, copy;
    auto text = spelled(standard, k);
    auto slot = k.slot(copy);
    if (std::holds_alternative<std::vector<std::string>*>(slot)
        || k.is_secret())
      continue;
    if (text.starts_with('"'))
      text = text.substr(1, text.size() - 2);
    auto read = assign(copy, k, text);
    BOOST_TEST(!!read, k.path() << " = " << text);
    BOOST_TEST(spelled(copy, k) == spelled(standard, k), k.path());
  }
}

BOOST_AUTO_TEST_CASE(never_spells_a_secret) {
  settings s;
  s.e2b.api_key = secret{"e2b_0123456789"};
  BOOST_TEST(spelled(s, key("e2b.api-key")) == "\"***\"");
  BOOST_TEST(spelled({}, key("e2b.api-key")) == "\"\"");
}

BOOST_AUTO_TEST_SUITE_END()
