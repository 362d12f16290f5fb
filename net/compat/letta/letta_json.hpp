#pragma once

#include "net/compat/letta/letta.hpp"
#include "net/server/exchange.hpp"
#include "runtime/engine/engine.hpp"

#include <string>
#include <string_view>

/// Letta's JSON shapes: every member there, nulls written out.
namespace troupe::net::letta {

std::string text_of(const tool& t);
std::string text_of(const sandbox_config& c);
/// The value is written only: it is answered as a mask, unless an operator
/// wants it as Letta does.
std::string text_of(const sealed_variable& v, const letta_options& options);
std::string text_of(const sealed_agent_variable& v,
                    const letta_options& options);

/// ToolReturnMessage, what /v1/tools/run answers.
std::string return_message(const run_result& r, std::string_view name);
/// ToolExecutionResult, what an agent's tool run answers.
std::string execution_result(const run_result& r);

// -- failures ----------------------------------------------------------------

/// The whole error as one text: every field that is wrong.
std::string detail_of(const error& why);
/// {"detail": "..."}; for 422 with a trace id, and detail still a text.
response write_detail(int status, std::string_view code, const error& why,
                      std::string_view request_id, std::string_view run_id);

void fail(exchange& ex, int status, std::string_view detail);
/// A body or a query that is not as it should be: 422.
void fail_validation(exchange& ex, const error& why);
/// An engine's error after validation: bad arguments are 400 here.
void fail_engine(exchange& ex, const error& why);

} // namespace troupe::net::letta
