#include "tests/support/providers/remote_contract.hpp"

#include "tests/support/engine/result_rows.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace troupe::test {

using namespace std::chrono_literals;

remote_side::~remote_side() {
  if (backend)
    backend->stop();
  work_.reset();
  io_.stop();
  thread_.join();
  backend.reset(); // its connections need the context to be there
}

void remote_side::open(const make_provider& make, provider_limits bounds,
                       net::client_options how) {
  how.retry.first_delay = how.retry.max_delay = 1ms; // nobody here is busy
  auto client
    = std::make_shared<net::http_client>(io_.get_executor(), std::move(how));
  auto where = make(client);
  BOOST_REQUIRE(where.has_value());
  bounds.create_spacing = 0ms;
  backend = std::make_shared<provider_backend>(*where, leases,
                                               io_.get_executor(), bounds);
}

std::shared_ptr<waiting_observer> remote_side::begin(prepared_run r) {
  auto watcher = std::make_shared<waiting_observer>();
  backend->start(std::make_shared<const prepared_run>(std::move(r)), watcher);
  return watcher;
}

run_outcome remote_side::run(prepared_run r) {
  auto outcome = begin(std::move(r))->wait();
  rest();
  return outcome;
}

void remote_side::rest() {
  BOOST_TEST(backend->rest(30s));
}

run_result remote_side::good(prepared_run r) {
  auto outcome = run(std::move(r));
  BOOST_REQUIRE_MESSAGE(outcome.answer.has_value(),
                        outcome.answer.error().text);
  return *outcome.answer;
}

prepared_run python_run(backend_kind where, std::string source,
                        std::string args) {
  prepared_run r;
  r.id = run_id::make();
  r.organization = default_organization();
  r.kind = run_kind::source;
  r.name = r.function = "tool";
  r.source = std::move(source);
  r.args_json = std::move(args);
  r.limits.wall = 30s;
  auto config = std::make_shared<sandbox_config>();
  config->type = where;
  r.config = std::move(config);
  return r;
}

prepared_run shell_run(backend_kind where, std::string line) {
  auto r = python_run(where, "");
  r.kind = run_kind::command;
  r.lang = language::shell;
  r.command = std::move(line);
  return r;
}

namespace {

void values_and_output(remote_side& side, backend_kind where) {
  auto r = side.good(
    python_run(where, "def tool(a, b):\n  print('hi')\n  return a + b\n",
               R"({"a": 2, "b": 3})"));
  BOOST_TEST((r.status == run_status::success));
  BOOST_TEST((r.reason == exit_reason::exited));
  BOOST_TEST(r.value_json == "5");
  BOOST_TEST(r.stdout_text == "hi\n");
  BOOST_TEST((r.backend == where));
}

void what_a_tool_raised(remote_side& side, backend_kind where) {
  auto r
    = side.good(python_run(where, "def tool():\n  raise ValueError('no')\n"));
  BOOST_TEST((r.status == run_status::error));
  BOOST_TEST(r.failure.name == "ValueError");
  BOOST_TEST(r.failure.friendly
             == "Error executing function tool: ValueError: no");
}

void variables_of_any_text(remote_side& side, backend_kind where) {
  auto run
    = python_run(where, "import os\ndef tool():\n  return os.environ['KEY']\n");
  run.env.emplace("KEY", secret{"it's \"quoted\"\n"});
  BOOST_TEST(side.good(run).value_json == R"("it's \"quoted\"\n")");
  run.lang = language::javascript;
  run.source = "export function tool() { return process.env.KEY; }";
  BOOST_TEST(side.good(run).value_json == R"("it's \"quoted\"\n")");
  auto line = shell_run(where, "printf %s \"$KEY\"");
  line.env = run.env;
  BOOST_TEST(side.good(line).stdout_text == "it's \"quoted\"\n");
}

void event_loops_of_a_tool(remote_side& side, backend_kind where) {
  auto run = python_run(where,
                        "import asyncio\nasync def g(): return 3\n"
                        "def tool(): return asyncio.run(g())\n");
  BOOST_TEST(side.good(run).value_json == "3");
}

void files_in_and_out(remote_side& side, backend_kind where) {
  auto run = python_run(where,
                        "def tool():\n  open('out.bin', 'wb').write("
                        "open('d/in.bin', 'rb').read() * 2)\n");
  run.files = {{"d/in.bin", std::string("\xff\0", 2)}};
  run.outputs = {"*.bin"};
  for (auto lang : {language::python, language::javascript}) {
    run.lang = lang;
    const auto r = side.good(run);
    BOOST_TEST((r.status == run_status::success), r.failure.friendly);
    BOOST_REQUIRE(r.files.size() == 1u);
    BOOST_TEST(r.files[0].name == "out.bin");
    BOOST_TEST(r.files[0].content == std::string("\xff\0\xff\0", 4));
    run.source
      = "const fs = require('fs');\nexport function tool() { const a = "
        "fs.readFileSync('d/in.bin'); fs.writeFileSync('out.bin', "
        "Buffer.concat([a, a])); }";
  }
  auto line = shell_run(where, "true");
  line.files = run.files;
  const auto refused = side.run(line);
  BOOST_REQUIRE(!refused.answer);
  BOOST_TEST((refused.answer.error().code == ec::invalid_request));
  BOOST_TEST(refused.answer.error().text.find("has no files")
             != std::string::npos);
}

void commands(remote_side& side, backend_kind where) {
  auto run = shell_run(where, "cat; echo bad >&2; exit 3");
  run.stdin_text = "given";
  auto r = side.good(run);
  BOOST_TEST(r.stdout_text == "given");
  BOOST_TEST(r.stderr_text == "bad\n");
  BOOST_TEST(r.exit_code == 3);
  BOOST_TEST((r.status == run_status::error));
  run.command.clear();
  run.argv = {"printf", "%s", "it's; $(one) `word`"};
  BOOST_TEST(side.good(run).stdout_text == "it's; $(one) `word`");
}

void forged_frames(remote_side& side, backend_kind where) {
  auto r = side.good(python_run(
    where,
    "def tool():\n"
    "  print('\\n=troupe:00000000000000000000000000000000:4:AAAA=\\n')\n"
    "  return 'mine'\n"));
  BOOST_TEST(r.value_json == "\"mine\"");
  BOOST_TEST(r.stdout_text.find("=troupe:0000") != std::string::npos);
}

void bounded_output(remote_side& side, backend_kind where) {
  auto run = python_run(where,
                        "def tool():\n  print('x' * 1_000_000)\n"
                        "  return 1\n");
  run.limits.output_bytes = 1'000;
  auto r = side.good(run);
  BOOST_TEST(r.value_json == "1");
  BOOST_TEST(r.stdout_text.size() == 1'000u);
  BOOST_TEST(r.stdout_truncated);
  BOOST_TEST(r.usage.stdout_bytes == 1'000'001u);
}

void failed_installs(remote_side& side, backend_kind where) {
  auto run = python_run(where, "def tool():\n  return 1\n");
  run.pip_requirements = {{"no-such-package-of-ours", {}, "==0.0.1"}};
  auto outcome = side.run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::invalid_request));
  BOOST_TEST(!outcome.may_have_started);
}

prepared_run sleeper(backend_kind where) {
  return python_run(where,
                    "import time\ndef tool():\n"
                    "  print('so far', flush=True)\n"
                    "  time.sleep(20)\n");
}

void wall_limits(remote_side& side, backend_kind where) {
  auto run = sleeper(where);
  run.limits.wall = 3s; // time enough to begin, on a busy machine too
  auto r = side.good(run);
  BOOST_TEST((r.reason == exit_reason::wall_timeout));
  BOOST_TEST((r.status == run_status::error));
  BOOST_TEST(r.stdout_text == "so far\n");
}

void cancellation(remote_side& side, backend_kind where) {
  auto run = sleeper(where);
  auto watcher = side.begin(run);
  watcher->wait_for_output("so far");
  side.backend->cancel(run.id, exit_reason::cancelled);
  auto outcome = watcher->wait();
  BOOST_REQUIRE(outcome.answer.has_value());
  BOOST_TEST((outcome.answer->reason == exit_reason::cancelled));
  BOOST_TEST(outcome.answer->stdout_text == "so far\n");
}

void javascript(remote_side& side, backend_kind where) {
  auto run = python_run(where, "");
  run.lang = language::javascript;
  run.source = "export function tool(s) { console.log('hi'); return s + "
               "`it's \"q\" \\\\ \\n`; }";
  run.args_json = R"({"s": "x"})";
  auto r = side.good(run);
  BOOST_TEST(r.value_json == R"("xit's \"q\" \\ \n")");
  BOOST_TEST(r.stdout_text == "hi\n");
}

void same_documents(remote_side& side, backend_kind where) {
  check_result_rows([&](const result_row& row) {
    auto run = python_run(where, row.source, row.args);
    run.lang = row.lang;
    return side.good(run);
  });
}

void signals(remote_side& side, backend_kind where) {
  auto r = side.good(shell_run(where, "kill -9 $$"));
  BOOST_TEST((r.reason == exit_reason::signaled));
  BOOST_TEST(r.signal == 9);
  BOOST_TEST((r.status == run_status::error));
}

} // namespace

void check_contract(remote_side& side, backend_kind where,
                    const std::function<void()>& nothing_left,
                    const std::vector<std::string>& except) {
  struct row {
    const char* name;
    void (*check)(remote_side&, backend_kind);
  };
  for (auto& [name, check] : std::initializer_list<row>{
         {"values and output", values_and_output},
         {"what a tool raised", what_a_tool_raised},
         {"variables of any text", variables_of_any_text},
         {"event loops of a tool", event_loops_of_a_tool},
         {"commands", commands},
         {"forged frames", forged_frames},
         {"bounded output", bounded_output},
         {"failed installs", failed_installs},
         {"wall limits", wall_limits},
         {"cancellation", cancellation},
         {"files in and out", files_in_and_out},
         {"javascript", javascript},
         {"same documents", same_documents},
         {"signals", signals}}) {
    if (std::ranges::find(except, name) != except.end())
      continue;
    BOOST_TEST_CONTEXT(name) {
      check(side, where);
      nothing_left();
    }
  }
}

} // namespace troupe::test
