#include "app/cli/run_output.hpp"

#include "app/cli/output_files.hpp"
#include "app/cli/status_line.hpp"
#include "app/cli/table.hpp"
#include "app/daemon/exit_code.hpp"
#include "app/logging/log_line.hpp"

#include <iostream>

namespace troupe {

namespace {

/// An error within a stream, whose status was 200 long before.
error error_in(const json::value& said) {
  auto code = ec::internal;
  for (auto each :
       {ec::invalid_request, ec::not_found, ec::conflict, ec::denied,
        ec::unavailable, ec::timeout, ec::exhausted, ec::no_space})
    if (to_string(each) == cell(said, "code"))
      code = each;
  auto object = said.if_object();
  return read_error(object ? *object : json::object{}, code);
}

} // namespace

int exit_code_of(const json::value& result) {
  auto reason = cell(result, "reason");
  if (reason == "wall_timeout" || reason == "cpu_timeout")
    return exit_timeout;
  if (reason == "start_failed" || reason == "lost")
    return exit_ours;
  return cell(result, "status") == "success" ? exit_ok : exit_tool_failed;
}

std::string failure_of(const json::value& result) {
  auto raised = result.get_object().if_contains("error");
  auto why = raised ? cell(*raised, "friendly") : std::string{};
  return why.empty() ? cell(result, "detail") : why;
}

void print_answer(const json::value& r, bool streamed) {
  if (!streamed)
    std::cerr << cell(r, "stdout") << cell(r, "stderr");
  std::cout.flush();
  if (cell(r, "status") == "success") {
    auto value = r.get_object().if_contains("value");
    const auto text = value ? json::to_text(*value) : "null";
    if (auto size = r.get_object().if_contains("value_size");
        size && size->is_int64())
      std::cerr << size_note(static_cast<std::uint64_t>(size->get_int64()));
    else if (auto bytes = bytes_to_print(text, cell(r, "value_encoding")))
      std::cout << *bytes;
    else
      std::cout << text << "\n";
    return;
  }
  auto why = failure_of(r);
  std::cerr << "troupe: " << cell(r, "reason")
            << (why.empty() ? "" : ": " + strip_control_characters(why))
            << "\n";
}

int print_result(const json::value& result, bool as_json, bool streamed) {
  if (as_json)
    std::cout << json::to_text(result) << "\n";
  else
    print_answer(result, streamed);
  return exit_code_of(result);
}

result<json::value> follow_run(api_client& engine, api_client::verb method,
                               std::string target, const json::value& body) {
  status_line waits;
  json::value last;
  auto hear = [&](json::object& line) -> result<void> {
    json::value event(std::move(line)); // braces: a list of it
    auto type = cell(event, "type");
    if (type == "stdout" || type == "stderr") {
      waits.clear();
      std::cerr << cell(event, "data") << std::flush;
    } else if (type == "progress") {
      waits.show(cell(event, "data"));
    } else if (type == "queued") {
      waits.show("queued ...");
    } else if (type == "end") {
      auto& end = event.get_object();
      if (end["result"].is_null())
        return error_in(end["error"]);
      last = std::move(end["result"]);
    }
    return {};
  };
  if (auto heard = engine.follow(method, std::move(target), body, hear); !heard)
    return heard.error();
  if (last.is_null())
    return error{
      ec::unavailable, "the engine disconnected before the end", {}, {}};
  return last;
}

} // namespace troupe
