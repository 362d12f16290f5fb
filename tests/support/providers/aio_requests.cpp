#include "tests/support/providers/aio_requests.hpp"

#include "net/http/multipart.hpp"
#include "tests/support/http/json_schema.hpp"
#include "tests/support/providers/fake_files.hpp"

#include <set>

namespace troupe::test {

namespace {

constexpr std::string_view session_prefix = "/v1/bash/sessions/";
constexpr std::string_view form = "form";

/// "file:string! append:boolean": a closed object; what ends in "!" has to be
/// there. "texts": an object of texts.
std::string object_of(std::string_view members) {
  json::object properties;
  json::array required;
  while (!members.empty()) {
    auto word = members.substr(0, members.find(' '));
    members.remove_prefix(std::min(members.size(), word.size() + 1));
    auto colon = word.find(':');
    auto name = word.substr(0, colon);
    auto type = word.substr(colon + 1);
    if (type.ends_with('!')) {
      required.emplace_back(name);
      type.remove_suffix(1);
    }
    json::object rule{{"type", type}};
    if (type == "texts")
      rule = {{"type", "object"},
              {"additionalProperties", json::object{{"type", "string"}}}};
    if (type == "limit") // seconds of a piece of code
      rule = {{"type", "integer"}, {"minimum", 1}, {"maximum", 300}};
    if (type == "encoding")
      rule = {{"enum", json::array{"utf-8", "base64", "raw"}}};
    if (type == "signal")
      rule = {{"enum", json::array{"SIGTERM", "SIGKILL", "SIGINT"}}};
    if (type == "language")
      rule = {{"enum", json::array{"python", "javascript"}}};
    properties[name] = std::move(rule);
  }
  json::object whole{{"type", "object"}, {"additionalProperties", false}};
  whole["properties"] = std::move(properties);
  whole["required"] = std::move(required);
  return json::to_text(whole);
}

/// What a caller says of himself and his body. Whatever is not here he has
/// thought of himself.
const std::set<std::string> known_headers{
  "accept", "authorization", "content-length", "content-type",
  "host",   "x-aio-api-key", "traceparent",    "user-agent"};

void check_body(const stand_request& r, const std::string& wanted,
                std::vector<std::string>& found) {
  auto type = r.header("content-type");
  if (wanted.empty()) {
    if (!r.body.empty() || !type.empty())
      found.push_back("it has a body");
    return;
  }
  if (wanted == form) {
    auto parts = net::parse_form(type, r.body);
    if (!parts || parts->size() != 2 || parts->at(0).name != "file"
        || parts->at(0).filename.empty() || parts->at(1).name != "path"
        || !parts->at(1).filename.empty())
      found.push_back("it is no form of a file and its path");
    return;
  }
  auto body = json::parse_object(r.body, {.depth = 8, .bytes = 64u << 20});
  if (!body || type != "application/json") {
    found.push_back("it is no JSON object");
    return;
  }
  auto schema = json::parse(wanted).value();
  json::object nothing;
  for (auto& problem : json_schema{nothing}.problems(*body, schema))
    found.push_back(std::move(problem));
}

} // namespace

std::string aio_call_of(const stand_request& r) {
  auto path = r.path;
  if (path.starts_with(session_prefix)) {
    auto end = path.find('/', session_prefix.size());
    path.replace(session_prefix.size(), end - session_prefix.size(), "*");
  }
  return r.method + " " + path;
}

const std::map<std::string, std::string>& aio_calls() {
  static const std::map<std::string, std::string> all{
    {"POST /v1/bash/exec",
     object_of("command:string! session_id:string exec_dir:string env:texts "
               "async_mode:boolean timeout:number hard_timeout:number "
               "max_output_length:integer")},
    {"POST /v1/bash/output",
     object_of("session_id:string! command_id:string offset:integer "
               "stderr_offset:integer wait:boolean wait_timeout:number")},
    {"POST /v1/bash/kill", object_of("session_id:string! signal:signal")},
    {"POST /v1/bash/sessions/*/close", ""},
    {"POST /v1/file/write",
     object_of(
       "file:string! content:string! encoding:encoding append:boolean "
       "leading_newline:boolean trailing_newline:boolean sudo:boolean")},
    {"POST /v1/file/read",
     object_of("file:string! start_line:integer end_line:integer "
               "sudo:boolean")},
    {"POST /v1/file/replace",
     object_of("file:string! old_str:string! new_str:string! sudo:boolean")},
    {"POST /v1/file/search",
     object_of("file:string! regex:string! sudo:boolean")},
    {"POST /v1/file/find", object_of("path:string! glob:string!")},
    {"POST /v1/file/grep",
     object_of("path:string! pattern:string! case_insensitive:boolean "
               "fixed_strings:boolean max_results:integer recursive:boolean")},
    {"POST /v1/file/list",
     object_of("path:string! recursive:boolean show_hidden:boolean "
               "max_depth:integer include_size:boolean "
               "include_permissions:boolean sort_by:string "
               "sort_desc:boolean")},
    {"POST /v1/file/upload", std::string{form}},
    {"GET /v1/file/download", ""},
    {"POST /v1/jupyter/execute",
     object_of("code:string! timeout:limit kernel_name:string "
               "session_id:string cwd:string")},
    {"POST /v1/nodejs/execute",
     object_of("code:string! timeout:limit stdin:string files:texts "
               "stateful:boolean session_id:string cwd:string "
               "version:string")},
    {"POST /v1/code/execute",
     object_of("language:language! code:string! timeout:limit cwd:string "
               "stateful:boolean session_id:string")},
  };
  return all;
}

std::vector<std::string> aio_problems(const stand_request& r) {
  std::vector<std::string> found;
  auto described = aio_calls().find(aio_call_of(r));
  if (described == aio_calls().end())
    return {"it is not described"};
  for (const auto& [name, value] : r.headers)
    if (!known_headers.contains(name))
      found.push_back("header " + name);
  for (auto needed : {"host", "user-agent"})
    if (r.header(needed).empty())
      found.push_back("it lacks " + std::string{needed});
  if (r.header("x-aio-api-key").empty() == r.header("authorization").empty())
    found.push_back("it has no key, or two");
  if (r.method == "POST"
      && r.header("content-length") != std::to_string(r.body.size()))
    found.push_back("its length is not said");
  if (r.method == "GET" ? !asks_only(r, 1, {"path", "change_policy"})
                        : !r.query.empty())
    found.push_back("its query");
  check_body(r, described->second, found);
  return found;
}

} // namespace troupe::test
