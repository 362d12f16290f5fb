#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/run_output.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/status_line.hpp"
#include "app/cli/table.hpp"
#include "runtime/json/big_integers.hpp"

#include <iostream>

namespace troupe {

namespace {

struct batch_words {
  std::string file;
  std::size_t at_once = 0; // 0: the engine's own mind
  bool as_json = false;
};

/// One request per line, a list of them, or the whole body of a batch.
result<json::object> read_batch(const std::string& text) {
  json::object body;
  // A whole body, a list of requests, or one request.
  static constexpr std::string_view arguments[]
    = {"/items/*/args", "/*/args", "/args"};
  auto whole = json::parse_large(text, arguments);
  if (whole && whole->is_object() && whole->get_object().contains("items"))
    return std::move(whole->get_object());
  if (whole && whole->is_array()) {
    body["items"] = std::move(*whole);
    return body;
  }
  json::array items;
  for (std::string_view rest = text; !rest.empty();) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == line.npos)
      continue;
    auto item = json::parse_large_object(line, arguments);
    if (!item)
      return std::move(item).error().within("FILE, request "
                                            + std::to_string(items.size() + 1));
    items.emplace_back(std::move(*item));
  }
  body["items"] = std::move(items);
  return body;
}

/// What a person wants to know of one: its place, how it ended, its value.
void print_item(const json::object& line) {
  const auto& r = line.at("result");
  const auto& e = line.at("error");
  std::cout << json::to_text(line.at("index")) << "  ";
  if (r.is_null())
    std::cout << cell(e, "code") << "  " << cell(e, "detail");
  else if (cell(r, "status") == "success")
    std::cout << "success  " << json::to_text(r.at("value"));
  else
    std::cout << cell(r, "reason") << "  "
              << one_line(failure_of(r), std::string::npos);
  std::cout << std::endl;
}

result<int> run_batch(const batch_words& said, api_client& engine) {
  auto text = read_said_file(said.file, "FILE");
  if (!text)
    return text.error();
  auto body = read_batch(*text);
  if (!body)
    return body.error();
  if (said.at_once > 0)
    (*body)["max_concurrency"] = said.at_once;
  status_line progress;
  std::size_t ended = 0;
  std::string failed;
  auto hear = [&](json::object& line) -> result<void> {
    bool is_item = line.at("type") == "item";
    progress.clear();
    if (said.as_json)
      std::cout << json::to_text(line) << std::endl;
    else if (is_item)
      print_item(line);
    if (!is_item)
      failed = cell(line, "failed");
    else
      progress.show(std::to_string(++ended) + " have ended ...");
    return {};
  };
  auto heard = engine.follow(api_client::verb::post, "/v1/batches",
                             std::move(*body), hear);
  if (!heard)
    return heard.error();
  if (failed.empty())
    return error{
      ec::unavailable, "the engine disconnected before the end", {}, {}};
  if (failed != "0")
    std::cerr << "troupe: " << failed << " of " << ended << " failed\n";
  return failed == "0" ? int{exit_ok} : int{exit_tool_failed};
}

} // namespace

void add_batch_command(CLI::App& app, invocation& call) {
  auto [cmd, said] = add_session_command(
    &app, call, "batch",
    "Run many requests and print each result as it arrives", run_batch);
  cmd
    ->add_option("FILE", said->file,
                 "Requests as for POST /v1/runs: one per line, or a JSON "
                 "array; - for stdin")
    ->required();
  cmd->add_option("--concurrency", said->at_once, "Concurrent runs")
    ->check(CLI::Range(1, 64));
}

} // namespace troupe
