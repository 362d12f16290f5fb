#pragma once

#include "app/settings_options.hpp"
#include "runtime/json/json.hpp"

#include <boost/beast/http/verb.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Where a command finds an engine, as the command line says it.
struct session_options {
  std::string server;   // "": TROUPE_SERVER, else found by the settings
  std::string key_file; // "": the key is in TROUPE_API_KEY, or not needed
  std::shared_ptr<settings_options> from;
};

/// Adds --server, --key-file and those of the settings.
std::shared_ptr<session_options> add_session_options(CLI::App& command);

/// An engine's /v1 interface for the time of one command. Without --server it
/// is the engine that serves at http.listen or, where nobody listens, one that
/// is opened in this process on the same data: commands work either way.
class api_session {
public:
  static result<std::unique_ptr<api_session>> open(const session_options& how);
  api_session(const api_session&) = delete;
  api_session& operator=(const api_session&) = delete;
  ~api_session();

  using verb = boost::beast::http::verb;

  /// The answer's JSON (null where it has none). A refusal by the engine is an
  /// error with its own words and fields.
  result<json::value> call(verb method, std::string target);
  result<json::value> call(verb method, std::string target,
                           const json::value& body);
  /// An answer that is not JSON, such as /metrics.
  result<std::string> text(std::string target);

  /// The same request `count` times, `at_once` at a time: how long each took.
  /// Ends at the first refusal.
  result<std::vector<std::chrono::microseconds>>
  repeat(verb method, const std::string& target, const std::string& body,
         std::size_t count, std::size_t at_once);

  /// All items of a listing, page by page; `target` without query.
  result<json::array> list(std::string target, std::string query = {});

  /// "http://127.0.0.1:8283", for people.
  std::string where() const;
  /// Whether the engine lives in this process and ends with the command.
  bool is_embedded() const;

private:
  struct parts;
  explicit api_session(std::unique_ptr<parts> p);
  result<std::string> exchange(verb method, std::string target,
                               std::string body);
  std::unique_ptr<parts> parts_;
};

/// Says what was wrong on standard error, field by field; the exit code.
int complain_about(const error& why);

/// Opens a session, does `work` with it, and returns its exit code.
int in_session(const session_options& how,
               const std::function<result<int>(api_session&)>& work);

} // namespace troupe
