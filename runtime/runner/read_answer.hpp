#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/model/run.hpp"
#include "runtime/runner/frame.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace troupe::script {

/// Makes a result of what came back.
///
/// `seen` holds what the engine saw itself: reason, exit_code, signal, output,
/// usage. `answer` is what arrived on the private channel, at most
/// `program::answer_limit` + 1 bytes, "" when nothing did. Fills in status,
/// value_*, failure, agent_state_* and, where still empty, detail.
///
/// The tool's word is believed about its own value only: a missing or broken
/// answer is an error whatever the exit code, and no answer outlives a limit
/// that was hit. A process that ends badly after a good answer has answered;
/// a note tells of the end.
void interpret(const prepared_run& run, std::string_view answer,
               run_result& seen);

/// The same with a frame that is read already; none: nothing arrived.
void interpret_message(const prepared_run& run,
                       std::optional<frame::message> answer, run_result& seen);

/// The same for `build_remote_script`: the answer is looked for in what was
/// printed, and taken out of `seen.stdout_text`.
void interpret_remote(const prepared_run& run, std::string_view key,
                      run_result& seen);

/// `Error executing function f: ValueError: bad`, at most 1000 characters.
std::string friendly_message(std::string_view function, std::string_view name,
                             std::string_view message);

/// At most `count` code points of valid UTF-8.
std::string_view first_characters(std::string_view text, std::size_t count);

/// Characters of a string, or of the JSON text of everything else. A text of no
/// more than `enough` bytes is not looked at: that many it has at most.
std::size_t value_characters(std::string_view value_json,
                             std::size_t enough = 0);

/// The first `limit` code points and a note about the rest, as a JSON string;
/// or "" when `value_json` is short enough as it is. Strings count by their
/// characters, everything else by its JSON text. `length_before`: how long a
/// string was before the runner cut it, 0 when it did not. A limit of 0 is
/// none.
std::string truncate_value(std::string_view value_json, std::size_t limit,
                           std::size_t length_before = 0);

} // namespace troupe::script
