#include "actors/protocol/wire_json.hpp"

#include "runtime/model/codec/codec.hpp"
#include "runtime/model/run_fields.hpp"

namespace troupe {

namespace {

// A byte becomes six at most: \u0000.
constexpr std::size_t longest_escape = 6;

std::size_t bytes_in(const std::string& text) {
  return text.size();
}
std::size_t bytes_in(const secret& text) {
  return text.reveal().size();
}
/// Numbers and words of ours are short.
template <class T>
std::size_t bytes_in(const T& value) {
  std::size_t n = 0;
  if constexpr (requires { value.begin()->second; })
    for (const auto& [name, text] : value)
      n += bytes_in(name) + bytes_in(text);
  else if constexpr (requires { value.begin(); })
    for (const auto& each : value)
      n += bytes_in(each);
  return n;
}

/// What a request holds that can be long, unescaped.
std::size_t bytes_in(const run_request& r) {
  std::size_t n = 0;
  for_each_row(run_fields, [&](const auto& f) { n += bytes_in(f.of(r)); });
  return n;
}

} // namespace

std::string to_text(const std::shared_ptr<const run_request>& request) {
  if (!request)
    return {};
  json::value tree = to_wire(*request);
  auto text = json::to_text(tree);
  json::wipe_texts(tree);
  return text;
}

result<std::shared_ptr<const run_request>>
request_from_text(std::string_view text) {
  if (text.empty())
    return std::shared_ptr<const run_request>{};
  json::parse_limits limits;
  limits.bytes = largest_request_text;
  limits.wiped = true; // it holds variables
  auto body = json::parse_object(text, limits);
  if (!body)
    return body.error();
  auto parsed = from_wire(*body);
  if (!parsed)
    return parsed.error();
  return std::make_shared<const run_request>(std::move(*parsed));
}

// -- what fits ----------------------------------------------------------------

result<void> check_fits_link(const run_request& request) {
  // Few are long enough to be written down for it.
  if (bytes_in(request) < largest_request_text / (2 * longest_escape))
    return {};
  const auto bytes = json::to_text(to_wire(request)).size();
  if (bytes <= largest_request_text)
    return {};
  return error{ec::invalid_request,
               "the message has " + std::to_string(bytes)
                 + " bytes, the limit of a link is "
                 + std::to_string(largest_request_text)
                 + "; pass large data through a file or a URL"};
}

std::string to_link_text(const std::shared_ptr<const run_result>& result) {
  auto text = to_text(result);
  if (text.size() <= largest_result_text)
    return text;
  auto rest = *result;
  rest.status = run_status::error;
  rest.reason = exit_reason::output_limit;
  rest.detail = "the answer has " + std::to_string(text.size())
    + " bytes, the limit of a link is " + std::to_string(largest_result_text)
    + "; pass large data through a file or a URL";
  rest.value_json = "null";
  rest.failure = {};
  rest.failure.message = rest.failure.friendly = rest.detail;
  for (auto* part : {&rest.stdout_text, &rest.stderr_text,
                     &rest.agent_state_json, &rest.agent_state_diff})
    part->clear();
  rest.stdout_truncated = rest.stderr_truncated = true;
  rest.network.clear();
  rest.notes.clear();
  return to_wire_text(rest);
}

} // namespace troupe
