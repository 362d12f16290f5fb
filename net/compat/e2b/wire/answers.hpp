#pragma once

#include "net/http/response.hpp"
#include "net/server/exchange.hpp"
#include "runtime/engine/sandbox_error.hpp"

#include <string>
#include <string_view>

/// Failures as E2B's clients read them: a JSON object with a numeric `code`,
/// which several of them look at in place of the status.
namespace troupe::net::e2b_facade {

/// The reason, with each field that is wrong.
std::string message_of(const error& why);

/// {"code":404,"message":"..."}
response error_answer(int status, std::string_view message,
                      std::string_view error_code = {});

/// For routes: error_writer.
response write_error(int status, std::string_view code, const error& why,
                     std::string_view request_id, std::string_view run_id);

void refuse(exchange& ex, int status, std::string_view message);
/// 501 with the way out.
void refuse_feature(exchange& ex, std::string_view feature,
                    std::string_view instead);

/// The status of a failure on the control plane.
int control_status_of(const sandbox_error& why);
void fail_control(exchange& ex, const sandbox_error& why);

/// Whether the sandbox itself is what is not there for a call into it.
bool is_about_sandbox(const sandbox_error& why);

/// What a call into a sandbox is told that does not run: the clients know it by
/// its message.
void refuse_gone(exchange& ex, std::string_view sandbox);

} // namespace troupe::net::e2b_facade
