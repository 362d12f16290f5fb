// What a serving engine leaves on its disk is for its own eyes.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"
#include "tests/support/readable_forms.hpp"

#include <sys/stat.h>

#include <fstream>

using namespace troupe;
using namespace troupe::tests;

BOOST_AUTO_TEST_SUITE(at_rest)

namespace {

const std::string of_output = "CANARY-printed-2c90b1";
const std::string of_errors = "CANARY-warned-2c90b2";
const std::string of_value = "CANARY-returned-2c90b3";
const std::string of_failure = "CANARY-raised-2c90b4";
const std::string of_arguments = "CANARY-argument-2c90b5";
const std::string of_label = "CANARY-label-2c90b6";
const std::string of_key = "CANARY-key-2c90b7";
const std::string open_word = "OPEN-word-2c90b8";

struct with_umask {
  explicit with_umask(mode_t mask) : before{::umask(mask)} {}
  ~with_umask() { ::umask(before); }
  mode_t before;
};

unsigned mode_of(const std::filesystem::path& path) {
  struct stat about {};
  BOOST_REQUIRE_MESSAGE(::lstat(path.c_str(), &about) == 0, path.string());
  return about.st_mode & 07777;
}

void closed_to_others(const std::filesystem::path& root) {
  BOOST_TEST(mode_of(root) == 0700u, root);
  for (const auto& f : std::filesystem::recursive_directory_iterator{root})
    BOOST_TEST((mode_of(f.path()) & 077) == 0u, f.path());
}

std::string backup_to(const std::filesystem::path& place) {
  json::object body;
  body["directory"] = place.string();
  return json::to_text(body);
}

/// A tool that tells what it got in every way there is.
std::string telling_run(bool fails) {
  const std::string source
    = "import sys\n\ndef tell(word: str) -> str:\n    \"\"\"Tells.\"\"\"\n"
      "    print(word.replace('argument', 'printed').replace('b5', 'b1'))\n"
      "    print(word.replace('argument', 'warned').replace('b5', 'b2'), "
      "file=sys.stderr)\n"
    + std::string{fails ? "    raise ValueError(word.replace('argument', "
                          "'raised').replace('b5', 'b4'))\n"
                        : "    return word.replace('argument', 'returned')"
                          ".replace('b5', 'b3')\n"};
  json::object body{{"source", source}};
  body["args"] = json::object{{"word", of_arguments}};
  body["labels"] = json::object{{"about", of_label}};
  return json::to_text(body);
}

void tell_everything(const std::string& address) {
  auto fine = talk(address, "POST /v1/runs", telling_run(false));
  BOOST_TEST(fine.body.at("value").as_string() == of_value,
             json::to_text(fine.body));
  auto failed = talk(address, "POST /v1/runs", telling_run(true));
  BOOST_TEST(failed.body.at("status") == "error", json::to_text(failed.body));
  const auto key = "Idempotency-Key: " + of_key + "\r\n";
  for (int i = 0; i < 2; ++i) {
    auto once = ask(address, "POST /v1/runs", telling_run(false), key);
    BOOST_TEST(contains(once, of_value), once);
  }
  json::object batch;
  batch["items"] = json::array{json::parse_object(telling_run(false)).value()};
  auto many = ask(address, "POST /v1/batches", json::to_text(batch));
  BOOST_TEST(contains(many, of_value), many);
  talk(address, "PUT /v1/tools",
       R"({"source_type": "python", "source_code": "def f() -> int:\n    )"
       R"(\"\"\")"
         + open_word + R"(\"\"\"\n    return 1"})");
}

} // namespace

BOOST_AUTO_TEST_CASE(is_closed_to_others_whatever_the_umask) {
  for (mode_t mask : {0, 022}) {
    temporary_folder place;
    const with_umask now{mask};
    serving engine{place};
    const auto address = engine.address();
    BOOST_TEST(talk(address, "POST /v1/runs", telling_run(false)).status
               == 200);
    BOOST_TEST(talk(address, "POST /v1/maintenance/backups",
                    backup_to(place.path / "backup"))
                 .status
               == 200);
    closed_to_others(place.path / "data");
    closed_to_others(place.path / "backup");
    BOOST_TEST(engine.end(SIGTERM) == 0);
    closed_to_others(place.path / "data");
    auto restored
      = run_program({"restore", (place.path / "backup").string(),
                     "--data-dir=" + (place.path / "again").string()},
                    place.path);
    BOOST_TEST(restored.code == 0, restored.err);
    closed_to_others(place.path / "again");
  }
}

BOOST_AUTO_TEST_CASE(says_that_it_was_found_open) {
  temporary_folder place;
  const auto data = place.path / "data";
  std::filesystem::create_directory(data);
  std::ofstream{data / "of-somebody-else"} << "";
  ::chmod(data.c_str(), 0755);
  serving engine{place};
  engine.address();
  BOOST_TEST(engine.end(SIGTERM) == 0);
  std::ifstream log{place.path / "serve.log"};
  const std::string text{std::istreambuf_iterator<char>{log}, {}};
  BOOST_TEST(contains(text, "is accessible to other users"), text);
  BOOST_TEST(contains(text, "chmod 700 " + data.string()), text);
  BOOST_TEST(mode_of(data) == 0755u);
  closed_to_others(data / "store");
  closed_to_others(data / "environments");
}

BOOST_AUTO_TEST_CASE(tells_nothing_of_what_runs_said) {
  temporary_folder place;
  {
    serving engine{place};
    const auto address = engine.address();
    tell_everything(address);
    talk(address, "POST /v1/maintenance/backups",
         backup_to(place.path / "data" / "backup"));
    BOOST_TEST(engine.end(SIGTERM) == 0);
  }
  int open_hits = 0;
  for (const auto& f :
       std::filesystem::recursive_directory_iterator{place.path}) {
    if (!f.is_regular_file())
      continue;
    std::ifstream file{f.path(), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    for (const auto& text : {of_output, of_errors, of_value, of_failure,
                             of_arguments, of_label, of_key})
      for (const auto& form : readable_forms(text))
        BOOST_TEST(!contains(bytes, form), f.path() << " tells " << text);
    open_hits += contains(bytes, open_word);
  }
  BOOST_TEST(open_hits > 0);
  // And whoever may, reads it.
  serving engine{place};
  const auto address = engine.address();
  const auto listed = ask(address, "GET /v1/runs");
  BOOST_TEST(contains(listed, of_label), listed);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
