#include "app/api_session.hpp"

#include "app/command_line.hpp"
#include "app/host.hpp"
#include "net/client/http_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>

namespace troupe {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// Long enough for a tool whose packages are installed first.
constexpr std::chrono::minutes patience{30};
// Somebody who listens on this machine accepts at once.
constexpr std::chrono::seconds knock_patience{2};
constexpr std::size_t max_answer_bytes = 256u << 20;
constexpr std::size_t max_key_bytes = 4096;
constexpr std::string_view page_size = "200";

error make_error(ec code, std::string text) {
  error e;
  e.code = code;
  e.text = std::move(text);
  return e;
}

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
  default:
    return status >= 500 ? ec::internal : ec::invalid_request;
  }
}

std::string text_in(const json::object& o, std::string_view name) {
  auto found = o.if_contains(name);
  return found && found->is_string() ? std::string{found->get_string()}
                                     : std::string{};
}

/// What a problem+json document says.
error read_problem(unsigned status, const std::string& body) {
  auto e = make_error(code_of(status),
                      "the engine answered " + std::to_string(status));
  auto parsed = json::parse_object(body);
  if (!parsed)
    return e;
  for (auto name : {"title", "detail"})
    if (auto text = text_in(*parsed, name); !text.empty())
      e.text = std::move(text);
  auto fields = parsed->if_contains("errors");
  if (!fields || !fields->is_array())
    return e;
  for (const auto& item : fields->get_array())
    if (item.is_object()) {
      const auto& field = item.get_object();
      auto where = text_in(field, "pointer") + text_in(field, "parameter");
      e.fields.push_back(
        {where, text_in(field, "reason"), text_in(field, "hint")});
    }
  return e;
}

result<secret> read_key(const session_options& how) {
  if (how.key_file.empty()) {
    auto said = std::getenv("TROUPE_API_KEY");
    return secret{said ? said : ""};
  }
  std::ifstream file{how.key_file};
  std::string text(max_key_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  if (text.empty())
    return bad_field("--key-file", "holds no key: " + how.key_file,
                     "write the key that `troupe key create` printed into it");
  return secret{std::move(text)};
}

/// A wildcard is where one listens; one connects to this machine then.
std::string address_to_ask(const settings& s) {
  auto address = s.http.listen;
  for (std::string_view any : {"0.0.0.0:", "[::]:", "*:"})
    if (address.starts_with(any))
      address = "127.0.0.1:" + address.substr(any.size());
  return (s.http.tls_certificate.empty() ? "http://" : "https://") + address;
}

} // namespace

struct api_session::parts {
  std::unique_ptr<host> own; // where no engine was running
  asio::io_context io{1};
  std::optional<net::http_client> client;
  net::base_url server;
  secret key;

  net::client_request request(verb method, std::string target,
                              std::string body) const;
  net::client_exchange send(net::client_request request);
  result<bool> is_served();
};

net::client_request api_session::parts::request(verb method, std::string target,
                                                std::string body) const {
  net::client_request r;
  r.service = server;
  r.method = method;
  r.target = std::move(target);
  if (method != verb::get)
    r.headers.set(http::field::content_type, "application/json");
  if (!key.reveal().empty())
    r.headers.set(http::field::authorization,
                  "Bearer " + std::string{key.reveal()});
  r.body = std::move(body);
  r.deadline = std::chrono::steady_clock::now() + patience;
  r.max_body_bytes = max_answer_bytes;
  r.idempotent = method == verb::get;
  return r;
}

/// The client's work, done in this thread while the caller waits.
net::client_exchange api_session::parts::send(net::client_request request) {
  std::optional<net::client_exchange> done;
  auto work = client->send(std::move(request));
  asio::co_spawn(io, std::move(work),
                 [&](std::exception_ptr failed, net::client_exchange ended) {
                   if (failed)
                     std::rethrow_exception(failed);
                   done.emplace(std::move(ended));
                 });
  io.restart();
  while (!done && io.run_one() > 0) {
  }
  return std::move(*done);
}

/// False: nobody listens there. An error: somebody does who is not an engine.
result<bool> api_session::parts::is_served() {
  auto knock = request(verb::get, "/livez", {});
  knock.deadline = std::chrono::steady_clock::now() + knock_patience;
  knock.retry.tries = 1;
  auto ended = send(std::move(knock));
  if (!ended.answer)
    return false;
  if (ended.answer->ok())
    return true;
  return make_error(ec::unavailable,
                    "what listens on " + server.text()
                      + " is not a troupe; name another with"
                        " --server or --listen");
}

result<std::unique_ptr<api_session>>
api_session::open(const session_options& how) {
  auto p = std::make_unique<parts>();
  net::client_options options;
  options.connect_timeout = knock_patience;
  p->client.emplace(p->io.get_executor(), options);
  auto key = read_key(how);
  if (!key)
    return key.error();
  p->key = std::move(*key);

  auto named = how.server;
  if (auto said = std::getenv("TROUPE_SERVER"); named.empty() && said)
    named = said;
  auto loaded
    = named.empty() ? how.from->load() : result<configuration>{configuration{}};
  if (!loaded)
    return loaded.error();
  auto server = net::parse_base_url(
    named.empty() ? address_to_ask(loaded->values) : named);
  if (!server)
    return std::move(server).error().within("--server");
  p->server = std::move(*server);
  std::unique_ptr<api_session> session{new api_session{std::move(p)}};
  if (!named.empty())
    return session;
  auto& self = *session->parts_;
  auto served = self.is_served();
  if (!served)
    return served.error();
  if (*served)
    return session;

  // Who can open the data may do everything with it, key or not.
  loaded->values.http.listen = "127.0.0.1:0";
  loaded->values.http.require_key = false;
  loaded->values.http.tls_certificate.clear();
  loaded->values.http.tls_key.clear();
  auto own = host::open(*loaded);
  if (!own)
    return own.error();
  self.own = std::move(*own);
  self.key = {};
  auto inside = net::parse_base_url("http://" + self.own->addresses().front());
  if (!inside)
    return inside.error();
  self.server = std::move(*inside);
  return session;
}

api_session::api_session(std::unique_ptr<parts> p) : parts_{std::move(p)} {}

api_session::~api_session() {
  parts_->client.reset(); // its connections first: the host waits for them
  if (parts_->own)
    parts_->own->stop();
}

result<std::string> api_session::exchange(verb method, std::string target,
                                          std::string body) {
  auto ended
    = parts_->send(parts_->request(method, std::move(target), std::move(body)));
  if (!ended.answer)
    return std::move(ended.answer).error().within("ask " + where());
  if (!ended.answer->ok())
    return read_problem(ended.answer->status, ended.answer->body);
  return std::move(ended.answer->body);
}

result<json::value> api_session::call(verb method, std::string target) {
  auto body = exchange(method, std::move(target), {});
  if (!body)
    return body.error();
  if (body->empty())
    return json::value{};
  return json::parse(*body, {.bytes = max_answer_bytes});
}

result<json::value> api_session::call(verb method, std::string target,
                                      const json::value& body) {
  auto answer = exchange(method, std::move(target), json::to_text(body));
  if (!answer)
    return answer.error();
  if (answer->empty())
    return json::value{};
  return json::parse(*answer, {.bytes = max_answer_bytes});
}

result<std::string> api_session::text(std::string target) {
  return exchange(verb::get, std::move(target), {});
}

result<std::vector<std::chrono::microseconds>>
api_session::repeat(verb method, const std::string& target,
                    const std::string& body, std::size_t count,
                    std::size_t at_once) {
  std::vector<std::chrono::microseconds> took;
  std::optional<error> refused;
  std::size_t begun = 0;
  // One of these per connection; all of them in this thread.
  auto caller = [&]() -> asio::awaitable<void> {
    while (begun < count && !refused) {
      ++begun;
      auto since = std::chrono::steady_clock::now();
      auto next = parts_->request(method, target, body);
      auto ended = co_await parts_->client->send(std::move(next));
      if (!ended.answer)
        refused = ended.answer.error();
      else if (!ended.answer->ok())
        refused = read_problem(ended.answer->status, ended.answer->body);
      took.push_back(std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - since));
    }
  };
  std::size_t active = std::min(at_once, count);
  for (std::size_t i = active; i > 0; --i)
    asio::co_spawn(parts_->io, caller(), [&](std::exception_ptr failed) {
      --active;
      if (failed)
        std::rethrow_exception(failed);
    });
  parts_->io.restart();
  while (active > 0 && parts_->io.run_one() > 0) {
  }
  if (refused)
    return std::move(*refused);
  return took;
}

result<json::array> api_session::list(std::string target, std::string query) {
  json::array all;
  for (std::string after;;) {
    auto page = target + "?limit=" + std::string{page_size};
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
    after = text_in(o, "next");
    if (after.empty())
      return all;
  }
}

std::string api_session::where() const {
  return parts_->server.text();
}

bool api_session::is_embedded() const {
  return parts_->own != nullptr;
}

std::shared_ptr<session_options> add_session_options(CLI::App& command) {
  auto options = std::make_shared<session_options>();
  command.add_option("--server", options->server,
                     "Address of an engine, http://host:port (TROUPE_SERVER); "
                     "else the one of the settings, else one of our own");
  command.add_option("--key-file", options->key_file,
                     "File with an API key; else TROUPE_API_KEY");
  options->from = add_settings_options(command);
  return options;
}

int complain_about(const error& why) {
  auto code = complain(why.text,
                       why.code == ec::internal || why.code == ec::unavailable
                           || why.code == ec::timeout
                         ? exit_ours
                         : exit_usage);
  for (const auto& field : why.fields) {
    if (why.text.find(field.reason) != std::string::npos)
      continue; // said already
    std::cerr << "  " << (field.pointer.empty() ? "request" : field.pointer)
              << ": " << field.reason
              << (field.hint.empty() ? "" : " (" + field.hint + ")") << "\n";
  }
  return code;
}

int in_session(const session_options& how,
               const std::function<result<int>(api_session&)>& work) {
  auto session = api_session::open(how);
  if (!session)
    return complain_about(session.error());
  auto done = work(**session);
  return done ? *done : complain_about(done.error());
}

} // namespace troupe
