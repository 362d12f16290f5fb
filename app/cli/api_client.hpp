#pragma once

#include "app/cli/engine_locator.hpp"
#include "runtime/json/json.hpp"

#include <boost/beast/http/verb.hpp>

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// An engine's /v1 interface for the time of one command. Without --server it
/// is the engine that serves at http.listen or, if none listens there, one that
/// is opened in this process on the same data: commands work either way.
class api_client {
public:
  static result<std::unique_ptr<api_client>> open(const session_options& how);
  /// The same without opening one: null if no engine is running.
  static result<std::unique_ptr<api_client>> find(const session_options& how);
  api_client(const api_client&) = delete;
  api_client& operator=(const api_client&) = delete;
  ~api_client();

  using verb = boost::beast::http::verb;

  /// For what concerns every organization: on the operator's socket no key is
  /// sent from now on, since it would only take rights away.
  void act_as_operator();

  /// The answer's JSON (null where it has none). A refusal by the engine is an
  /// error with its own words and fields.
  result<json::value> call(verb method, std::string target);
  result<json::value> call(verb method, std::string target,
                           const json::value& body);
  /// What takes long is only begun: the engine's word on where it stands.
  result<json::value> begin(std::string target, const json::value& body);
  /// An answer that is not JSON, such as /metrics.
  result<std::string> text(std::string target);
  /// Bytes as they are, in place of JSON.
  result<json::value> send(verb method, std::string target, std::string bytes);
  /// Lines of JSON as they come; the first error of `line` ends it.
  using line_reader = std::function<result<void>(json::object& line)>;
  result<void> follow(verb method, std::string target, const json::value& body,
                      line_reader line);

  /// The same request `count` times, `at_once` at a time: how long each took.
  /// Ends at the first refusal. `told` hears how many there are by now.
  result<std::vector<std::chrono::microseconds>>
  repeat(verb method, const std::string& target, const std::string& body,
         std::size_t count, std::size_t at_once,
         const std::function<void(std::size_t)>& told = {});

  /// The first `most` items of a listing, page by page; `target` without query.
  result<json::array> list(std::string target, std::string query = {},
                           std::size_t most
                           = std::numeric_limits<std::size_t>::max());

  /// "http://127.0.0.1:8283", for people.
  std::string where() const;
  /// Whether the engine lives in this process and ends with the command.
  bool is_embedded() const;

private:
  struct parts;
  explicit api_client(engine_locator place);
  result<std::string> exchange(verb method, std::string target,
                               std::string body, std::string_view prefer = {});
  std::unique_ptr<parts> parts_;
};

/// What an engine's error says, in an answer or in a stream.
error read_error(const json::object& said, ec code);

/// Says what was wrong on standard error, field by field; the exit code.
int print_api_error(const error& why);

/// Opens a session, does `work` with it, and returns its exit code.
int in_session(const session_options& how,
               const std::function<result<int>(api_client&)>& work);

} // namespace troupe
