// What a runner answers: whatever it is, a result comes of it whose value is
// JSON, and success needs a good answer.
#include "runtime/json/json.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/read_answer.hpp"
#include "runtime/runner/schema_program.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void judge(std::string_view answer) {
  prepared_run run;
  run.name = run.function = "f";
  run.return_char_limit = 100;
  run.agent_state_json = R"({"id":"a","m":{"x":1}})";
  run_result seen;
  seen.reason = exit_reason::exited;
  script::interpret(run, answer, seen);
  demand(json::check(seen.value_json).has_value());
  demand((seen.status == run_status::success) == seen.failure.empty());
  demand(json::is_utf8(seen.failure.message));
  demand(json::is_utf8(seen.failure.friendly));
  demand(json::is_utf8(seen.failure.traceback));
  demand(seen.status == run_status::error || !answer.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  judge(bytes);
  // The parts, separated by newlines, in a frame that is in order.
  frame::message m;
  m.what = frame::kind::answer;
  auto rest = bytes;
  for (auto& part : m.parts) {
    auto end = std::min(rest.find('\n'), rest.size());
    part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  auto answer = frame::encode(m).value();
  judge(answer);
  (void)script::parse_schema_answer(answer);
  (void)script::parse_compiled(answer);
  return 0;
}
