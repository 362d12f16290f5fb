// An agent with an engine inside: it asks tools one after the other, the way
// a model would, and prints what they answer.
//
//   embedded_agent            runs the tools in this machine's sandboxes
//   embedded_agent --inline   answers them itself, without a sandbox
#include <stdlib.h>
#include <troupe/engine.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

namespace api = troupe::api;

namespace {

/// Stands in for a sandbox: every tool answers with its own arguments.
void echo(const api::message& m, std::function<void(api::answer)> done) {
  api::answer a;
  a.succeeded = true;
  a.reason = "exited";
  a.value = m.arguments;
  done(std::move(a));
}

struct temporary_directory {
  std::string path = "/tmp/troupe-example-XXXXXX";
  temporary_directory() {
    if (!::mkdtemp(path.data()))
      std::abort();
  }
  ~temporary_directory() { std::filesystem::remove_all(path); }
};

bool ask(api::engine& engine, std::string_view question, api::message m) {
  auto reply = engine.submit(std::move(m)).get();
  if (auto* broken = std::get_if<api::failure>(&reply)) {
    std::cerr << question << ": " << broken->code << ": " << broken->text
              << "\n";
    return false;
  }
  auto& answer = std::get<api::answer>(reply);
  std::cout << question << ": "
            << (answer.succeeded ? answer.value : answer.error) << "\n";
  return answer.succeeded;
}

} // namespace

int main(int argc, char** argv) {
  if (auto code = api::begin(argc, argv))
    return *code;
  // What it stores is for this example alone.
  const temporary_directory data;
  api::embedded_options options;
  options.data_directory = data.path;
  if (argc > 1 && std::string_view{argv[1]} == "--inline")
    options.backend = echo;
  auto opened = api::open_embedded(std::move(options));
  if (auto* broken = std::get_if<api::failure>(&opened)) {
    std::cerr << broken->text << "\n";
    return 1;
  }
  auto& engine = *std::get<0>(opened);

  api::message add;
  add.source = "def add(a: int, b: int) -> int:\n    return a + b\n";
  add.function = "add";
  add.arguments = R"({"a": 2, "b": 40})";
  api::message greet;
  greet.source = "import os\n"
                 "def greet() -> str:\n"
                 "    return 'hello, ' + os.environ['NAME']\n";
  greet.function = "greet";
  greet.variables["NAME"] = "agent";
  // One that is stored is run by its name.
  api::tool twice;
  twice.source = "def twice(n: int) -> int:\n"
                 "    \"\"\"Doubles a number.\"\"\"\n"
                 "    return 2 * n\n";
  twice.schema = R"({"name": "twice", "parameters": {"type": "object",
    "properties": {"n": {"type": "integer"}}, "required": ["n"]}})";
  auto kept = engine.put_tool(std::move(twice)).get();
  if (auto* broken = std::get_if<api::failure>(&kept)) {
    std::cerr << "put_tool: " << broken->text << "\n";
    return 1;
  }
  api::message double_it;
  double_it.tool = "twice";
  double_it.arguments = R"({"n": 21})";
  const bool fine = ask(engine, "add", std::move(add))
    && ask(engine, "greet", std::move(greet))
    && ask(engine, "twice", std::move(double_it));
  engine.stop();
  return fine ? 0 : 1;
}
