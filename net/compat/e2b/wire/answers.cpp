#include "net/compat/e2b/wire/answers.hpp"

#include "net/http/problem.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net::e2b_facade {

std::string message_of(const error& why) {
  std::string out;
  for (const auto& each : why.fields) {
    out.append(out.empty() ? "" : "; ");
    if (each.pointer.size() > 1)
      out.append(each.pointer, 1).append(" ");
    out.append(each.reason);
    if (!each.hint.empty())
      out.append(" (").append(each.hint).append(")");
  }
  return out.empty() ? why.text : out;
}

response error_answer(int status, std::string_view message,
                      std::string_view error_code) {
  json::object_writer out;
  out.number("code", status).text("message", json::repair_utf8(message));
  if (!error_code.empty())
    out.text("error_code", error_code);
  response r;
  r.status = status;
  r.body = out.finish();
  return r;
}

response write_error(int status, std::string_view, const error& why,
                     std::string_view, std::string_view) {
  return error_answer(status == 422 ? 400 : status, message_of(why));
}

void refuse(exchange& ex, int status, std::string_view message) {
  ex.answer(error_answer(status, message));
}

void refuse_feature(exchange& ex, std::string_view feature,
                    std::string_view instead) {
  std::string text{feature};
  text.append(" not supported by this server: ").append(instead);
  ex.answer(error_answer(501, text, "not_implemented"));
}

int control_status_of(const sandbox_error& why) {
  if (why.problem == sandbox_problem::sandbox_ended)
    return 404;
  const auto status = net::status_of(why);
  return status == 422 ? 400 : status;
}

void fail_control(exchange& ex, const sandbox_error& why) {
  const auto status = control_status_of(why);
  const bool crowded = why.problem == sandbox_problem::quota;
  auto r = error_answer(
    status,
    crowded ? "you have reached the maximum number of concurrent sandboxes: "
        + message_of(why)
            : message_of(why),
    status == 503 ? "sandbox_capacity_unavailable" : "");
  if (status == 429 || status == 503)
    add_retry_after(r, why);
  ex.answer(std::move(r));
}

bool is_about_sandbox(const sandbox_error& why) {
  return why.problem == sandbox_problem::sandbox_ended
    || why.problem == sandbox_problem::sandbox_paused
    || why.problem == sandbox_problem::sandbox_not_running;
}

void refuse_gone(exchange& ex, std::string_view sandbox) {
  json::object_writer out;
  out.text("sandboxId", sandbox)
    .text("message", "The sandbox was not found")
    .number("code", 502);
  ex.answer_json(out.finish(), 502);
}

} // namespace troupe::net::e2b_facade
