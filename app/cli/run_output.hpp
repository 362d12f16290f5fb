#pragma once

#include "app/cli/api_client.hpp"

namespace troupe {

/// A run's result, as the engine says it in JSON, to the user of a
/// command.

int exit_code_of(const json::value& result);

/// Why a run failed, in a sentence.
std::string failure_of(const json::value& result);

/// The value alone on standard output, so that it can be piped; what the tool
/// wrote beside it, unless that was `streamed` already.
void print_answer(const json::value& result, bool streamed);

/// The whole result as JSON, or what a person wants of it; the exit code.
int print_result(const json::value& result, bool as_json, bool streamed);

/// Something that answers in the events of a run: its output as it comes, what
/// it waits for on a terminal, and its result.
result<json::value> follow_run(api_client& engine, api_client::verb method,
                               std::string target,
                               const json::value& body = {});

} // namespace troupe
