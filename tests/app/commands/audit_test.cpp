// The audit record, as an operator sees it.
#include "app/assembly/options_from_settings.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/maintenance/store.hpp"
#include "tests/app/serving.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdio>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(audits)

namespace {

struct outcome {
  int code = 0;
  std::string text; // both streams
};

outcome troupe_command(const std::string& words,
                       const std::string& errors = "2>&1") {
  auto pipe = ::popen(
    (TROUPE_BINARY_DIR "/troupe " + words + " " + errors).c_str(), "r");
  BOOST_REQUIRE(pipe);
  outcome o;
  std::array<char, 4096> some{};
  while (auto n = std::fread(some.data(), 1, some.size(), pipe))
    o.text.append(some.data(), n);
  auto status = ::pclose(pipe);
  o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return o;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

std::string data_of(const temporary_folder& folder) {
  return "--data-dir=" + (folder.path / "data").string();
}

constexpr auto secret_value = "hunter2-is-no-secret";

/// A tool, a run with a secret and an argument, a sandbox config's variable.
void make_history(const std::string& at) {
  auto made = talk(at, "POST /v1/tools",
                   R"({"source_code":"def f(a: str):\n    '''D.\n\n    Args:\n)"
                   R"(        a: x\n    '''\n    return a\n"})");
  BOOST_TEST_REQUIRE(made.status == 201, json::to_text(made.body));
  auto ran
    = talk(at, "POST /v1/runs",
           std::string{R"({"tool_name":"f","args":{"a":")"} + secret_value
             + R"("},"env":{"WORD":")" + secret_value + R"("}})");
  BOOST_TEST_REQUIRE(ran.status == 200, json::to_text(ran.body));
  BOOST_TEST(ran.body.at("value").as_string() == secret_value);
}

store open_kept(const temporary_folder& folder) {
  settings s;
  s.engine.data_dir = folder.path / "data";
  auto kept = open_store(store_options_from(s));
  BOOST_REQUIRE_MESSAGE(kept, (kept ? "" : kept.error().text));
  return std::move(*kept);
}

} // namespace

BOOST_AUTO_TEST_CASE(are_shown_while_the_engine_runs_and_after) {
  temporary_folder folder;
  serving engine{folder};
  auto at = engine.address();
  make_history(at);
  auto live = troupe_command("audit tail --json --server=http://" + at + " "
                             + data_of(folder));
  BOOST_TEST(live.code == 0, live.text);
  BOOST_TEST(contains(live.text, R"("change":"put_tool")"), live.text);
  BOOST_TEST(contains(live.text, R"("event":"run")"), live.text);
  BOOST_TEST(contains(live.text, R"("status":"success")"), live.text);
  BOOST_TEST(!contains(live.text, secret_value), live.text);

  auto beside = troupe_command("audit verify " + data_of(folder));
  BOOST_TEST(beside.code == 0, beside.text);
  BOOST_TEST(contains(beside.text, "the engine is running"), beside.text);
  BOOST_TEST(contains(beside.text, "entries 1 to "), beside.text);

  BOOST_TEST(engine.end(SIGTERM) == 0);
  // Nobody listens there: the command opens the store itself.
  const auto state = " --http.listen=127.0.0.1:9 --local.runtime-dir="
    + (folder.path / "state").string();
  auto later = troupe_command("audit tail --json " + data_of(folder) + state,
                              "2>/dev/null");
  BOOST_TEST(later.text == live.text);
  auto last = troupe_command(
    "audit tail -n 1 --json " + data_of(folder) + state, "2>/dev/null");
  BOOST_TEST(live.text.ends_with(last.text), last.text);
  auto whole = troupe_command("audit verify " + data_of(folder));
  BOOST_TEST(whole.code == 0, whole.text);
  BOOST_TEST(contains(whole.text, "entries 1 to "), whole.text);
}

BOOST_AUTO_TEST_CASE(name_the_first_entry_that_was_changed) {
  temporary_folder folder;
  auto who = default_organization();
  {
    auto kept = open_kept(folder);
    for (int n = 1; n <= 3; ++n)
      BOOST_REQUIRE(kept.audit->append(who, json::object{{"event", n}}, now()));
    auto key = key_codec::encode(who, {key_codec::number(2)});
    auto bytes = kept.db->get(column::audit, key);
    BOOST_REQUIRE(bytes && *bytes);
    auto changed = **bytes;
    changed.at(changed.find("\"event\":2") + 8) = '7';
    batch forgery;
    forgery.put(column::audit, key, changed);
    BOOST_REQUIRE(kept.db->write(forgery, durability::synced));
  }
  auto found = troupe_command("audit verify " + data_of(folder));
  BOOST_TEST(found.code == 70, found.text);
  BOOST_TEST(contains(found.text, "audit entry 2 is not what was written"),
             found.text);
}

BOOST_AUTO_TEST_SUITE_END()
