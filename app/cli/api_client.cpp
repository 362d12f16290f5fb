#include "app/cli/api_client.hpp"

#include "app/cli/blocking_client.hpp"
#include "app/cli/command_line.hpp"
#include "app/cli/table.hpp"
#include "app/daemon/engine_process.hpp"
#include "app/logging/log_line.hpp"
#include "runtime/json/big_integers.hpp"

#include <algorithm>
#include <iostream>

namespace troupe {

namespace {

namespace http = boost::beast::http;

// Long enough for a tool whose packages are installed first.
constexpr std::chrono::minutes patience{30};
constexpr std::size_t max_answer_bytes = 256u << 20;
constexpr std::size_t page_size = 200;
// Of an answer that is not JSON, a sentence.
constexpr std::size_t longest_plain_reason = 200;

ec code_of(unsigned status) {
  switch (status) {
  case 401:
  case 403:
    return ec::denied;
  case 404:
    return ec::not_found;
  case 409:
  case 412:
    return ec::conflict;
  case 429:
    return ec::exhausted;
  case 503:
    return ec::unavailable;
  case 504:
    return ec::timeout;
  case 507:
    return ec::no_space;
  default:
    return status >= 500 ? ec::internal : ec::invalid_request;
  }
}

/// What a problem+json document says.
error read_problem(unsigned status, const std::string& body) {
  error e{
    code_of(status), "the engine answered " + std::to_string(status), {}, {}};
  if (auto parsed = json::parse_object(body)) {
    auto said = read_error(*parsed, e.code);
    if (!said.text.empty())
      e = std::move(said);
  } else if (!body.empty() && body.size() <= longest_plain_reason)
    e.text += ": " // such as TLS is spoken
      + strip_control_characters(
                body.substr(0, body.find_last_not_of("\r\n") + 1));
  if (status == 421)
    e.text += "; use one of its http.allowed-hosts";
  if (status == 401)
    e.text += "; set TROUPE_API_KEY, or --key-file";
  return e;
}

/// Nobody answered: what to look at first.
error unreached(error why, const std::string& where) {
  auto e = std::move(why).within("ask " + where);
  if (e.text.find("certificate") != e.text.npos)
    e.text
      += "; name the CA that signed it with --ca-file, and the engine as its "
         "certificate does with --server";
  else if (e.code == ec::unavailable)
    e.text += "; is an engine running there? Start one with `troupe serve`, or "
              "set --server or TROUPE_SERVER";
  return e;
}

} // namespace

error read_error(const json::object& said, ec code) {
  error e{code, {}, {}, {}};
  const json::value all(said);
  for (auto name : {"title", "detail"})
    if (auto text = cell(all, name); !text.empty())
      e.text = std::move(text);
  auto fields = said.if_contains("errors");
  if (!fields || !fields->is_array())
    return e;
  for (const auto& item : fields->get_array())
    e.fields.push_back({cell(item, "pointer") + cell(item, "parameter"),
                        cell(item, "reason"), cell(item, "hint")});
  return e;
}

struct api_client::parts {
  explicit parts(engine_locator p)
      : place{std::move(p)}, client{std::in_place, place.client} {}

  engine_locator place;
  std::optional<blocking_client> client;

  net::client_request request(verb method, std::string target,
                              std::string body) const;
};

net::client_request api_client::parts::request(verb method, std::string target,
                                               std::string body) const {
  net::client_request r;
  r.service = place.server;
  r.method = method;
  r.target = std::move(target);
  if (method != verb::get)
    r.headers.set(http::field::content_type, "application/json");
  if (!place.key.empty())
    r.headers.set(http::field::authorization,
                  "Bearer " + std::string{place.key.reveal()});
  r.body = std::move(body);
  r.deadline = std::chrono::steady_clock::now() + patience;
  r.max_body_bytes = max_answer_bytes;
  r.idempotent = method == verb::get;
  return r;
}

result<std::unique_ptr<api_client>>
api_client::open(const session_options& how) {
  auto place = find_or_open_engine(how);
  if (!place)
    return place.error();
  return std::unique_ptr<api_client>{new api_client{std::move(*place)}};
}

result<std::unique_ptr<api_client>>
api_client::find(const session_options& how) {
  auto place = find_engine(how);
  if (!place)
    return place.error();
  std::unique_ptr<api_client> session;
  if (*place)
    session.reset(new api_client{std::move(**place)});
  return session;
}

api_client::api_client(engine_locator place)
    : parts_{std::make_unique<parts>(std::move(place))} {}

api_client::~api_client() {
  parts_->client.reset(); // its connections first: the host waits for them
  if (parts_->place.own)
    parts_->place.own->stop();
}

void api_client::act_as_operator() {
  if (!parts_->place.server.socket.empty())
    parts_->place.key = {};
}

// -- asking -------------------------------------------------------------------

result<std::string> api_client::exchange(verb method, std::string target,
                                         std::string body,
                                         std::string_view prefer) {
  auto request = parts_->request(method, std::move(target), std::move(body));
  if (!prefer.empty())
    request.headers.set("prefer", prefer);
  auto ended = parts_->client->send(std::move(request));
  if (!ended.answer)
    return unreached(std::move(ended.answer).error(), where());
  if (!ended.answer->ok())
    return read_problem(ended.answer->status, ended.answer->body);
  return std::move(ended.answer->body);
}

namespace {

result<json::value> json_of(result<std::string> answer) {
  if (!answer)
    return answer.error();
  if (answer->empty())
    return json::value{};
  return json::parse(*answer, {.bytes = max_answer_bytes});
}

} // namespace

result<json::value> api_client::call(verb method, std::string target) {
  return json_of(exchange(method, std::move(target), {}));
}

result<json::value> api_client::call(verb method, std::string target,
                                     const json::value& body) {
  return json_of(exchange(method, std::move(target), json::exact_text(body)));
}

result<json::value> api_client::begin(std::string target,
                                      const json::value& body) {
  return json_of(exchange(verb::post, std::move(target), json::exact_text(body),
                          "respond-async"));
}

result<json::value> api_client::send(verb method, std::string target,
                                     std::string bytes) {
  auto request = parts_->request(method, std::move(target), std::move(bytes));
  request.headers.set(http::field::content_type, "application/octet-stream");
  auto ended = parts_->client->send(std::move(request));
  if (!ended.answer)
    return unreached(std::move(ended.answer).error(), where());
  if (!ended.answer->ok())
    return read_problem(ended.answer->status, ended.answer->body);
  return json_of(std::move(ended.answer->body));
}

result<std::string> api_client::text(std::string target) {
  return exchange(verb::get, std::move(target), {});
}

result<void> api_client::follow(verb method, std::string target,
                                const json::value& body, line_reader line) {
  auto request
    = parts_->request(method, std::move(target),
                      body.is_null() ? std::string{} : json::exact_text(body));
  request.headers.set(http::field::accept, "application/x-ndjson");
  result<void> read;
  std::string rest;
  net::stream_reader reader;
  reader.head = [](const net::client_response& head) { return head.ok(); };
  reader.data = [&](std::string_view piece) {
    rest += piece;
    for (std::size_t end; read && (end = rest.find('\n')) != rest.npos;) {
      auto one
        = json::parse_object(rest.substr(0, end), {.bytes = max_answer_bytes});
      rest.erase(0, end + 1);
      read = one ? line(*one) : result<void>{one.error()};
    }
    return read.has_value();
  };
  auto ended = parts_->client->stream(std::move(request), std::move(reader));
  if (!read)
    return read;
  if (!ended.answer)
    return unreached(std::move(ended.answer).error(), where());
  if (!ended.answer->ok())
    return read_problem(ended.answer->status, ended.answer->body);
  return {};
}

result<std::vector<std::chrono::microseconds>>
api_client::repeat(verb method, const std::string& target,
                   const std::string& body, std::size_t count,
                   std::size_t at_once,
                   const std::function<void(std::size_t)>& told) {
  using clock = std::chrono::steady_clock;
  std::vector<std::chrono::microseconds> took;
  result<void> fine;
  std::size_t begun = 0;
  auto next = [&]() -> std::optional<net::client_request> {
    if (begun == count)
      return std::nullopt;
    ++begun;
    return parts_->request(method, target, body);
  };
  auto ended = [&](net::client_exchange came, clock::duration time) {
    if (!came.answer)
      fine = came.answer.error();
    else if (!came.answer->ok())
      fine = read_problem(came.answer->status, came.answer->body);
    took.push_back(std::chrono::duration_cast<std::chrono::microseconds>(time));
    if (told)
      told(took.size());
    return fine.has_value();
  };
  parts_->client->send_all(std::min(at_once, count), next, ended);
  if (!fine)
    return fine.error();
  return took;
}

result<json::array> api_client::list(std::string target, std::string query,
                                     std::size_t most) {
  json::array all;
  for (std::string after;;) {
    auto page = target
      + "?limit=" + std::to_string(std::min(page_size, most - all.size()));
    if (!query.empty())
      page += "&" + query;
    if (!after.empty())
      page += "&after=" + net::percent_encode(after);
    auto got = call(verb::get, page);
    if (!got)
      return got.error();
    auto& o = got->as_object();
    for (auto& item : o["items"].as_array())
      all.push_back(std::move(item));
    after = cell(*got, "next");
    if (after.empty() || all.size() >= most)
      return all;
  }
}

std::string api_client::where() const {
  return parts_->place.server.text();
}

bool api_client::is_embedded() const {
  return parts_->place.own != nullptr;
}

int print_api_error(const error& why) {
  auto code = print_error(why);
  auto said = [&](const std::string& words) {
    return words.empty() || why.text.find(words) != std::string::npos;
  };
  for (const auto& field : why.fields) {
    if (!said(field.reason))
      std::cerr << "  " << (field.pointer.empty() ? "request" : field.pointer)
                << ": " << field.reason
                << (field.hint.empty() ? "" : " (" + field.hint + ")") << "\n";
    else if (!said(field.hint))
      std::cerr << "  " << field.hint << "\n";
  }
  return code;
}

int in_session(const session_options& how,
               const std::function<result<int>(api_client&)>& work) {
  auto session = api_client::open(how);
  if (!session)
    return print_api_error(session.error());
  auto done = work(**session);
  return done ? *done : print_api_error(done.error());
}

} // namespace troupe
