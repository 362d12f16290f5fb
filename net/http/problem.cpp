#include "net/http/problem.hpp"

#include "runtime/json/json.hpp"

#include <algorithm>

namespace troupe::net {

int status_of(ec code) {
  switch (code) {
  case ec::invalid_request:
    return 422;
  case ec::not_found:
    return 404;
  case ec::conflict:
    return 409;
  case ec::denied:
    return 403;
  case ec::unavailable:
    return 503;
  case ec::timeout:
    return 504;
  case ec::exhausted:
    return 429;
  case ec::internal:
    return 500;
  case ec::no_space:
    return 507;
  }
  return 500;
}

int status_of(const sandbox_error& why) {
  switch (why.problem) {
  case sandbox_problem::none:
    return status_of(why.code);
  case sandbox_problem::sandbox_not_running:
  case sandbox_problem::sandbox_paused:
  case sandbox_problem::process_ended:
  case sandbox_problem::context_lost:
  case sandbox_problem::context_not_branchable:
    return 409;
  case sandbox_problem::sandbox_ended:
    return 410;
  case sandbox_problem::nothing_listens:
    return 502;
  case sandbox_problem::start_failed:
    return why.code == ec::invalid_request ? 422 : 503;
  case sandbox_problem::unsupported_here:
    return 501;
  case sandbox_problem::template_not_found:
    return 404;
  case sandbox_problem::disk_limit:
    return 507;
  case sandbox_problem::quota:
  case sandbox_problem::queue_full:
    return 429;
  case sandbox_problem::place_unavailable:
    return 503;
  }
  return 500;
}

std::string_view code_of(const sandbox_error& why) {
  const auto closer = to_string(why.problem);
  return closer.empty() ? to_string(why.code) : closer;
}

std::string_view reason_phrase(int status) {
  switch (status) {
  case 100:
    return "Continue";
  case 200:
    return "OK";
  case 201:
    return "Created";
  case 202:
    return "Accepted";
  case 204:
    return "No Content";
  case 206:
    return "Partial Content";
  case 302:
    return "Found";
  case 304:
    return "Not Modified";
  case 307:
    return "Temporary Redirect";
  case 308:
    return "Permanent Redirect";
  case 400:
    return "Bad Request";
  case 401:
    return "Unauthorized";
  case 403:
    return "Forbidden";
  case 404:
    return "Not Found";
  case 405:
    return "Method Not Allowed";
  case 406:
    return "Not Acceptable";
  case 408:
    return "Request Timeout";
  case 409:
    return "Conflict";
  case 410:
    return "Gone";
  case 411:
    return "Length Required";
  case 412:
    return "Precondition Failed";
  case 413:
    return "Content Too Large";
  case 414:
    return "URI Too Long";
  case 415:
    return "Unsupported Media Type";
  case 416:
    return "Range Not Satisfiable";
  case 417:
    return "Expectation Failed";
  case 421:
    return "Misdirected Request";
  case 422:
    return "Unprocessable Content";
  case 426:
    return "Upgrade Required";
  case 428:
    return "Precondition Required";
  case 429:
    return "Too Many Requests";
  case 431:
    return "Request Header Fields Too Large";
  case 500:
    return "Internal Server Error";
  case 501:
    return "Not Implemented";
  case 502:
    return "Bad Gateway";
  case 503:
    return "Service Unavailable";
  case 504:
    return "Gateway Timeout";
  case 505:
    return "HTTP Version Not Supported";
  case 507:
    return "Insufficient Storage";
  default:
    return "Status";
  }
}

namespace {

void append_member(std::string& out, std::string_view name,
                   std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  json::append_string(out, text);
}

void append_field(std::string& out, const field_error& f) {
  out += '{';
  // '?name' is a query parameter; everything else points into the body.
  bool query = f.pointer.starts_with('?');
  out += query ? "\"parameter\":" : "\"pointer\":";
  json::append_string(out, std::string_view{f.pointer}.substr(query ? 1 : 0));
  append_member(out, "reason", f.reason);
  if (!f.hint.empty())
    append_member(out, "hint", f.hint);
  out += '}';
}

} // namespace

response write_problem(int status, std::string_view code, const error& why,
                       std::string_view request_id, std::string_view run_id) {
  response r;
  r.status = status;
  r.type = problem_type;
  auto& out = r.body;
  out.append("{\"type\":\"/problems/").append(code).append("\",\"title\":");
  json::append_string(out, reason_phrase(status));
  out += ",\"status\":" + std::to_string(status);
  append_member(out, "detail", why.text);
  append_member(out, "code", code);
  if (!request_id.empty())
    append_member(out, "request_id", request_id);
  if (!run_id.empty())
    append_member(out, "run_id", run_id);
  if (!why.fields.empty()) {
    out += ",\"errors\":[";
    for (std::size_t i = 0; i < why.fields.size(); ++i) {
      if (i != 0)
        out += ',';
      append_field(out, why.fields[i]);
    }
    out += ']';
  }
  out += '}';
  return r;
}

void add_retry_after(response& r, const error& why) {
  if (!retryable(why))
    return;
  using std::chrono::seconds;
  auto wait = std::chrono::ceil<seconds>(why.retry_after).count();
  wait = std::clamp<decltype(wait)>(wait, 1, 3600);
  r.fields.emplace_back("retry-after", std::to_string(wait));
}

} // namespace troupe::net
