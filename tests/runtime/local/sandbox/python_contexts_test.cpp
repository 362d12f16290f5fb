#include "tests/runtime/local/sandbox/kernels.hpp"

namespace troupe {

using namespace test;

BOOST_AUTO_TEST_SUITE(python_contexts)

namespace {

struct value_of_cell {
  std::string code;
  std::string value; // its text/plain; "": none
};
struct error_of_cell {
  std::string code;
  std::string name;
};

} // namespace

struct python {
  sandbox_host host;
  living sandbox{host};
  kernel_under_test kernel{host, *sandbox, context_language::python};

  told_cell run(const std::string& code) { return kernel.run(code); }
};

BOOST_FIXTURE_TEST_CASE(the_last_expression_is_the_value, python) {
  const value_of_cell table[] = {
    {"1 + 1", "2"},
    {"x = 20", ""},
    {"x + 1", "21"},
    {"x;", ""},
    {"x; # not shown", ""},
    {"'a;'", "'a;'"},
    {"x\n# nothing more", "20"},
    {"_", "20"},
    {"None", ""},
    {"", ""},
    {"if True:\n  5", ""},
    {"import asyncio\nawait asyncio.sleep(0, 'slept')", "'slept'"},
    {"async def f():\n  return 3\nawait f()", "3"},
    {"[await f() for i in range(2)]", "[3, 3]"},
    {"from __future__ import annotations", ""},
    {"def g(a: Unknown): return a\ng(1)", "1"},
    {"class A: pass\nimport pickle\npickle.loads(pickle.dumps(A)) is A",
     "True"},
    {"import inspect\ninspect.getsource(g)",
     R"('def g(a: Unknown): return a\n')"},
    {"%cd /tmp\nimport os\nos.getcwd()", "'/tmp'"},
    {"'\\ud800'", R"('\ud800')"},
  };
  for (const auto& [code, value] : table) {
    const auto cell = run(code);
    BOOST_TEST(cell.ok(), code);
    BOOST_TEST(cell.form() == value, code << " is " << cell.form());
  }
}

BOOST_FIXTURE_TEST_CASE(what_is_raised_is_told_and_the_state_stays, python) {
  run("x = 1");
  const error_of_cell table[] = {
    {"1/0", "ZeroDivisionError"},
    {"def (", "SyntaxError"},
    {"x = 1; return", "SyntaxError"},
    {"input()", "EOFError"},
    {"exit()", "SystemExit"},
    {"raise KeyboardInterrupt", "KeyboardInterrupt"},
    {"def r(): r()\nr()", "RecursionError"},
    {"class B:\n  def __repr__(self): raise ValueError('no')\nB()",
     "ValueError"},
    {"import sys\nraise type('Odd', (Exception,), "
     "{'__str__': lambda self: 1/0})()",
     "Odd"},
    {"async def z():\n  raise KeyError(1)\nawait z()", "KeyError"},
    {"%frobnicate", "NameError"},
  };
  for (const auto& [code, name] : table) {
    const auto cell = run(code);
    BOOST_TEST(!cell.ok(), code);
    BOOST_TEST(cell.raised() == name, code << " raised " << cell.raised());
  }
  BOOST_TEST(run("x").form() == "1");
}

BOOST_FIXTURE_TEST_CASE(a_traceback_shows_the_cell_and_nothing_of_ours,
                        python) {
  run("def f():\n  return 1/0");
  const auto cell = run("f()");
  BOOST_REQUIRE(cell.events.size() == 1u);
  const auto& trace = cell.events[0].traceback;
  BOOST_TEST(trace.find("return 1/0") != trace.npos, trace);
  BOOST_TEST(trace.find("<cell 2>") != trace.npos, trace);
  BOOST_TEST(trace.find("<stdin>") == trace.npos, trace);
  BOOST_TEST(cell.events[0].value == "division by zero");
}

BOOST_FIXTURE_TEST_CASE(values_are_shown_in_each_form_that_they_have, python) {
  run("class A:\n"
      "  def _repr_html_(self): return '<b>a</b>'\n"
      "  def _repr_png_(self): return b'\\x89PNG'\n"
      "  def _repr_json_(self): return {'a': [1]}\n"
      "  def _repr_latex_(self): raise ValueError\n"
      "  def __repr__(self): return 'A()'");
  const auto cell = run("A()");
  BOOST_TEST(cell.ok());
  BOOST_TEST(cell.form() == "A()");
  BOOST_TEST(cell.form("text/html") == "<b>a</b>");
  BOOST_TEST(cell.form("image/png") == "iVBORw==");
  BOOST_TEST(cell.form("application/json") == R"({"a": [1]})");
  BOOST_TEST(cell.form("text/latex").empty());
  BOOST_TEST(cell.err.find("ValueError") != cell.err.npos);
  const auto bundle
    = run("class M:\n"
          "  def _repr_mimebundle_(self, include=None, exclude=None):\n"
          "    return {'application/x.y+json': {}, 'not a mime': 1, 3: 4}\n"
          "M()");
  BOOST_TEST(bundle.form("application/x.y+json") == "{}");
  BOOST_TEST(run("from unittest.mock import MagicMock\nMagicMock()").ok());
}

BOOST_FIXTURE_TEST_CASE(display_shows_while_it_runs_and_updates, python) {
  const auto cell = run("print('a')\ndisplay(1, 2)\ndisplay(3, "
                        "display_id='d')\ndisplay(4, display_id='d', "
                        "update=True)\n5");
  BOOST_REQUIRE(cell.events.size() == 5u);
  BOOST_TEST((cell.events[2].what == cell_event::kind::display));
  BOOST_TEST(cell.events[2].display_id == "d");
  BOOST_TEST((cell.events[3].what == cell_event::kind::update));
  BOOST_TEST((cell.events[4].what == cell_event::kind::result));
  BOOST_TEST(cell.out == "a\n");
}

BOOST_FIXTURE_TEST_CASE(large_values_are_cut_and_larger_ones_left_out, python) {
  const auto text = run("'x' * 100_000").form();
  BOOST_TEST(text.size() > 65'000u);
  BOOST_TEST(text.size() < 66'000u);
  BOOST_TEST(text.find("characters more") != text.npos);
  run("class H:\n"
      "  def __init__(self, n): self.n = n\n"
      "  def __repr__(self): return 'H'\n"
      "  def _repr_html_(self): return 'h' * self.n\n"
      "  def _repr_markdown_(self): return 'm' * self.n\n");
  const auto whole = run("H(7 << 20)");
  BOOST_TEST(whole.ok());
  BOOST_TEST(whole.form("text/html").size() == 7u << 20);
  BOOST_TEST(whole.form("text/markdown").size() == 7u << 20);
  const auto left = run("H(16 << 20)");
  BOOST_TEST(left.ok());
  BOOST_TEST(left.form() == "H");
  BOOST_TEST(left.form("text/html").empty());
  BOOST_TEST(left.err.find("too large") != left.err.npos);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_stops_a_cell_and_keeps_the_state, python) {
  run("import time, asyncio, subprocess\nx = 1");
  for (const std::string code :
       {"while True: pass", "time.sleep(1000)", "await asyncio.sleep(1000)",
        "subprocess.run(['sleep', '1000'])", "while True: display(1)"}) {
    const auto cell = kernel.interrupt("print('ready')\n" + code);
    BOOST_REQUIRE(cell.answer);
    BOOST_TEST((cell.answer->status == cell_status::interrupted), code);
    BOOST_TEST(cell.raised() == "KeyboardInterrupt");
  }
  BOOST_TEST(run("x").form() == "1");
}

BOOST_FIXTURE_TEST_CASE(what_children_print_is_told_too, python) {
  const auto cell = run("import subprocess\nprint('a')\n"
                        "subprocess.run('echo b; echo c >&2', shell=True);");
  BOOST_TEST(cell.out == "a\nb\n");
  BOOST_TEST(cell.err == "c\n");
  BOOST_TEST(run("!echo shell").out == "shell\n");
  BOOST_TEST(run("%%bash\necho whole").out == "whole\n");
}

BOOST_FIXTURE_TEST_CASE(forks_leave_the_channel_to_their_parent, python) {
  const auto cell = run("import os\npid = os.fork()\n"
                        "if pid: os.waitpid(pid, 0)\n"
                        "print('child' if pid == 0 else 'parent')");
  BOOST_TEST(cell.ok());
  BOOST_TEST(cell.out == "child\nparent\n");
  BOOST_TEST(run("import multiprocessing\ndef sq(n): return n * n\n"
                 "with multiprocessing.Pool(2) as p: r = p.map(sq, [1, 2])\nr")
               .form()
             == "[1, 4]");
}

BOOST_FIXTURE_TEST_CASE(threads_print_beside_cells, python) {
  run("import threading, time\n"
      "go = threading.Event()\n"
      "def work():\n  go.wait()\n  print('from a thread')\n"
      "t = threading.Thread(target=work)\nt.start()");
  const auto cell = run("go.set()\nt.join()\n'done'");
  BOOST_TEST(cell.out == "from a thread\n");
  BOOST_TEST(cell.form() == "'done'");
}

BOOST_AUTO_TEST_CASE(what_is_not_an_interpreter_any_more_is_ended) {
  const std::string hostile[] = {
    "import os\nos._exit(3)",
    "import os\nos.write(3, b'nonsense\\n')\nimport time\ntime.sleep(1000)",
    "import os\nos.write(3, b'end status:2 count:1\\nok' * 2)\n"
    "import time\ntime.sleep(1000)",
    "import os\nos.write(3, b'result colour:3\\nred')\n"
    "import time\ntime.sleep(1000)",
    "import os\nos.write(3, b'x' * 5000)\nimport time\ntime.sleep(1000)",
    "import os\nos.close(3)\nimport time\ntime.sleep(1000)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "import ctypes\nctypes.string_at(0)",
  };
  sandbox_host host;
  living sandbox{host};
  for (const auto& code : hostile) {
    kernel_under_test kernel{host, *sandbox, context_language::python};
    kernel.begin(code);
    auto cell = kernel.wait();
    while (!cell.end) // an end that was forged came first
      cell = kernel.wait();
    BOOST_TEST(cell.end.has_value(), code);
  }
  BOOST_TEST(host.shell(*sandbox, "echo here").out == "here\n");
}

BOOST_AUTO_TEST_CASE(an_interpreter_that_cannot_start_says_why) {
  sandbox_host host;
  living sandbox{host};
  kernel_request what;
  what.env["PYTHONHOME"] = "/nowhere";
  auto came = host.call(host.provider().start_kernel(
    *sandbox, what, {}, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(!came);
  BOOST_TEST(came.error().text.find("before it was ready")
             != std::string::npos);
  what.env = {{"PATH", "/nowhere"}};
  came = host.call(host.provider().start_kernel(
    *sandbox, what, {}, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(!came);
  BOOST_TEST((came.error().code == ec::invalid_request));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
