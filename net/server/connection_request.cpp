// What happens between the head of a request and its handler.
#include "net/http/problem.hpp"
#include "net/http/response.hpp"
#include "net/server/connection.hpp"
#include "net/server/io_worker.hpp"
#include "runtime/base/trace_context.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

constexpr std::size_t longest_request_id = 128;

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= longest_request_id
    && std::all_of(text.begin(), text.end(), [](char c) {
         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
       });
}

/// "application/json" and "application/...+json", with any parameters.
bool is_json(std::string_view type) {
  auto name = trim(type.substr(0, type.find(';')));
  if (equal_ignoring_case(name, "application/json"))
    return true;
  return name.size() > 17
    && equal_ignoring_case(name.substr(0, 12), "application/")
    && equal_ignoring_case(name.substr(name.size() - 5), "+json");
}

} // namespace

/// Ours, unless the client sent one that can be echoed and logged as it is.
void connection::name_request(request& in) {
  auto given = in.field("x-request-id");
  in.id = is_request_id(given) ? std::string{given} : home_->make_request_id();
}

void connection::admit(exchange_ptr ex) {
  auto& in = ex->in_;
  name_request(in);
  pending_.request_id = in.id;
  auto traced = in.field("traceparent");
  if (parse_traceparent(traced))
    pending_.trace_id = traced.substr(3, 32); // 00-TRACE-SPAN-FLAGS
  const auto& routes = home_->shared().routes;
  if (auto moved = routes.redirected(in))
    in.path = std::move(*moved);
  ex->match_ = routes.find(in.verb, in.path);
  const auto* found = ex->match_.found;
  ex->style_ = found && found->rules.failure ? found->rules.failure
                                             : routes.style_of(in.path);
  if (found) {
    pending_.route = found->path;
    pending_.route_index = found->index;
  }
  if (auto bad = doorman_.check_site(in, traits_.tls)) {
    refuse(*ex, *bad);
    return;
  }
  if (!found) {
    answer_unrouted(*ex);
    return;
  }
  if (auto bad = admissible(*ex)) {
    refuse(*ex, *bad);
    return;
  }
  if (auto inspect = found->rules.inspect)
    if (auto bad = inspect(in)) {
      if (parser_->has_body())
        pending_.keep = false; // it will not be read
      ex->fail(*bad);
      return;
    }
  pending_.organization = ex->who_.organization.str();
  ex->sees_details_ = doorman_.shows_details() || ex->who_.key;
  pending_.key_id = ex->who_.key.str();
  pending_.gzip = accepts_gzip(in.field("accept-encoding"));
  if (found->rules.takes_over) {
    pending_.keep = false;
    dispatch(std::move(ex));
    return;
  }
  if (parser_->has_body())
    expect_body(*ex);
  if (parser_->has_body())
    arriving_ = std::move(ex);
  else
    dispatch(std::move(ex));
}

void connection::answer_unrouted(exchange& ex) {
  if (parser_->has_body())
    pending_.keep = false; // it will not be read
  auto allowed = ex.match_.allowed;
  if (ex.in_.path == "*")
    allowed = 0xff >> (8 - method_count);
  if (allowed == 0) {
    ex.refuse(404, "not_found", "no such path; see /docs and /openapi.json");
    return;
  }
  response r;
  if (ex.in_.verb == method::options) {
    r.status = 204;
    r.type = {};
  } else {
    error why;
    why.text = "method not allowed for this path; see Allow";
    r = (ex.style_ ? ex.style_ : &write_problem)(405, "method_not_allowed", why,
                                                 ex.in_.id, {});
  }
  r.fields.emplace_back("allow", allow_list(allowed));
  ex.answer(std::move(r));
}

std::optional<refusal> connection::admissible(exchange& ex) {
  const auto& in = ex.in_;
  const auto& rules = ex.match_.found->rules;
  auto& shared = home_->shared();
  if (!rules.health_route) {
    if (shared.draining.load())
      return refusal{503, "unavailable", "the server is shutting down"};
    if (traits_.on_reserved_descriptor)
      return refusal{503, "unavailable", "the server is out of descriptors"};
    if (shared.in_flight.load() >= shared.options.in_flight_limit)
      return refusal{503, "unavailable", "too many requests are waiting"};
  }
  auto expect = in.field("expect");
  if (!expect.empty() && !equal_ignoring_case(expect, "100-continue"))
    return refusal{417, "expectation_failed",
                   "the only supported expectation is '100-continue'"};
  if (auto bad = doorman_.admit(in, rules, ex.who_))
    return bad;
  if (rules.takes_over)
    return std::nullopt;
  if (auto bad = check_body_rules(in, rules))
    return bad;
  auto limit = rules.body_limit ? rules.body_limit : shared.options.body_limit;
  parser_->limit(limit);
  if (parser_->announced() > limit)
    return too_large_body(limit);
  return reserve(ex, parser_->announced());
}

std::optional<refusal>
connection::check_body_rules(const request& in,
                             const route_rules& rules) const {
  auto coding = in.field("content-encoding");
  if (!coding.empty() && !equal_ignoring_case(coding, "identity"))
    return refusal{415, "unsupported_encoding",
                   "send the body without Content-Encoding"};
  if (!parser_->has_body() || rules.body == body_rule::any)
    return std::nullopt;
  if (rules.body == body_rule::none && !parser_->chunked_body())
    return refusal{400, "unexpected_body", "this request must not have a body"};
  if (in.count("content-type") != 1 || !is_json(in.field("content-type")))
    return refusal{415, "unsupported_media_type",
                   "send 'Content-Type: application/json'"};
  return std::nullopt;
}

/// Bodies of all connections share one budget: memory is bounded even when
/// every single one is within its limit.
std::optional<refusal> connection::reserve(exchange& ex, std::size_t bytes) {
  auto& shared = home_->shared();
  if (bytes == 0)
    return std::nullopt;
  auto before = shared.bodies.fetch_add(bytes);
  ex.reserved_ += bytes;
  if (before + bytes > shared.options.bodies_limit)
    return refusal{503, "unavailable", "too many bodies are being received"};
  return std::nullopt;
}

void connection::release_body(std::size_t bytes) noexcept {
  if (bytes != 0)
    home_->shared().bodies.fetch_sub(bytes);
}

void connection::expect_body(exchange& ex) {
  const auto& options = home_->shared().options;
  phase_ = phase::body;
  auto size = std::chrono::milliseconds{parser_->announced() * 1000
                                        / options.body_rate};
  read_deadline(options.body_timeout + size);
  // As it arrives, so that an announcement alone costs no memory.
  ex.in_.body.reserve(
    std::min<std::size_t>(parser_->announced(), in_.max_size()));
  if (!ex.in_.http10 && ex.in_.has("expect") && in_.size() == 0)
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
}

void connection::dispatch(exchange_ptr ex) {
  phase_ = phase::handling;
  read_by_ = clock::time_point::max();
  handled_ = ex;
  pending_.counted = true;
  home_->shared().in_flight.fetch_add(1);
  if (ex->in_.body.size() < home_->shared().options.large_body) {
    handle(std::move(ex));
    return;
  }
  if (!home_->shared().readers.put([ex] { handle(ex); }))
    refuse(*ex,
           refusal{503, "unavailable", "too many large bodies are waiting"});
}

/// On an io thread, or for a large body on one of those that read them.
void connection::handle(exchange_ptr ex) {
  const auto& handler = ex->match_.found->handle;
  try {
    handler(std::move(ex));
  } catch (const std::exception&) {
    // The exchange answers 500 when the last one lets it go: now, or later.
  }
}

void connection::refuse(exchange& ex, const refusal& why) {
  home_->counts().refused.add();
  // What follows may be the rest of this request: nothing more is read.
  if (parser_->has_body() || why.status == 400 || why.status == 505
      || why.status == 501 || why.status == 431 || why.status == 414
      || why.status == 408 || why.status == 417)
    pending_.keep = false;
  error text;
  text.text = why.text;
  auto r = (ex.style_ ? ex.style_ : &write_problem)(why.status, why.code, text,
                                                    ex.in_.id, {});
  if (why.status == 503)
    r.fields.emplace_back("retry-after", "1");
  if (why.status == 401)
    r.fields.emplace_back("www-authenticate", "Bearer realm=\"troupe\"");
  ex.answer(std::move(r));
}

/// For bytes that never became a request.
void connection::refuse_bytes(const refusal& why) {
  auto ex = std::make_shared<exchange>(shared_from_this(), ++serial_);
  pending_ = {};
  pending_.serial = serial_;
  pending_.open = true;
  pending_.began = clock::now();
  pending_.route_index = home_->shared().routes.routes().size();
  ex->in_.id = home_->make_request_id();
  pending_.request_id = ex->in_.id;
  parser_.emplace(ex->in_, home_->shared().options);
  refuse(*ex, why);
}

} // namespace troupe::net
