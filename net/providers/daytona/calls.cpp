#include "net/providers/daytona/calls.hpp"

#include "net/http/multipart.hpp"
#include "net/http/url.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net::daytona {

namespace {

using verb = operation::verb;
using texts = std::map<std::string, std::string>;

constexpr bool repeatable = true;
constexpr bool only_once = false;

call api(std::string_view doing, verb method, std::string_view sandbox,
         const std::string& more, std::string body = {}) {
  return {{doing,
           method,
           "/sandbox/" + percent_encode(sandbox) + more,
           std::move(body),
           {},
           repeatable},
          plane::api};
}

call tool(std::string_view doing, verb method, std::string target, bool again) {
  return {{doing, method, std::move(target), {}, {}, again}, plane::toolbox};
}

call tool(std::string_view doing, std::string target, const json::object& body,
          bool again) {
  return {
    {doing, verb::post, std::move(target), json::to_text(body), {}, again},
    plane::toolbox};
}

/// "?path=%2Ftmp&mode=755"; what is empty is left out.
std::string
query(std::initializer_list<std::pair<std::string_view, std::string_view>> of) {
  std::string out;
  for (auto [name, value] : of)
    if (!value.empty())
      out += (out.empty() ? "?" : "&") + std::string{name} + "="
        + percent_encode(value);
  return out;
}

json::object object_of(const texts& from) {
  json::object out;
  for (const auto& [name, value] : from)
    out[name] = value;
  return out;
}

json::array array_of(const std::vector<std::string>& from) {
  json::array out;
  for (const auto& each : from)
    out.emplace_back(each);
  return out;
}

json::object at_path(std::string_view path) {
  return {{"path", path}};
}

void add_login(json::object& body, const std::optional<git_login>& login) {
  if (!login)
    return;
  body["username"] = login->user;
  body["password"] = login->password.reveal();
}

} // namespace

// -- the sandbox itself -------------------------------------------------------

call show_sandbox(std::string_view sandbox) {
  return api("show a sandbox", verb::get, sandbox, "");
}

call set_labels(std::string_view sandbox, const texts& labels) {
  json::object body{{"labels", object_of(labels)}};
  return api("label a sandbox", verb::put, sandbox, "/labels",
             json::to_text(body));
}

call set_autostop(std::string_view sandbox, std::chrono::minutes idle) {
  return api("set when it stops", verb::post, sandbox,
             "/autostop/" + std::to_string(idle.count()));
}

call set_autodelete(std::string_view sandbox, std::chrono::minutes stopped) {
  return api("set when it is deleted", verb::post, sandbox,
             "/autodelete/" + std::to_string(stopped.count()));
}

call stop_sandbox(std::string_view sandbox) {
  return api("stop a sandbox", verb::post, sandbox, "/stop?force=false");
}

call start_sandbox(std::string_view sandbox) {
  return api("start a sandbox", verb::post, sandbox, "/start");
}

call preview(std::string_view sandbox, std::uint16_t port) {
  return api("get the URL of a port", verb::get, sandbox,
             "/ports/" + std::to_string(port) + "/preview-url");
}

call signed_preview(std::string_view sandbox, std::uint16_t port,
                    std::chrono::seconds valid) {
  return api("sign the URL of a port", verb::get, sandbox,
             "/ports/" + std::to_string(port)
               + "/signed-preview-url?expiresInSeconds="
               + std::to_string(valid.count()));
}

// -- files --------------------------------------------------------------------

/// The path before its file, or the daemon does not know where it goes.
call upload(const std::vector<sandbox_file>& files) {
  std::vector<form_part> parts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& file = files[i];
    auto name = "files[" + std::to_string(i) + "].";
    parts.push_back(form_field(name + "path", file.path));
    parts.push_back(
      form_file(name + "file",
                std::string_view{file.path}.substr(file.path.rfind('/') + 1),
                file.content));
  }
  auto boundary = make_boundary();
  return {{"take a file", verb::post, "/files/bulk-upload",
           form_body(parts, boundary), form_type(boundary), repeatable},
          plane::toolbox};
}

call download(std::string_view path) {
  return tool("read a file", verb::get,
              "/files/download" + query({{"path", path}}), repeatable);
}

call download_all(const std::vector<std::string>& paths) {
  auto out = tool("read files", "/files/bulk-download",
                  {{"paths", array_of(paths)}}, repeatable);
  out.accept = "multipart/form-data";
  return out;
}

call list_folder(std::string_view path) {
  return tool("list a directory", verb::get, "/files" + query({{"path", path}}),
              repeatable);
}

call file_info(std::string_view path) {
  return tool("inspect a file", verb::get,
              "/files/info" + query({{"path", path}}), repeatable);
}

call make_folder(std::string_view path, std::string_view mode) {
  return tool("create a directory", verb::post,
              "/files/folder" + query({{"path", path}, {"mode", mode}}),
              repeatable);
}

/// Twice, and the second one finds nothing to move.
call move(std::string_view from, std::string_view to) {
  return tool("move a file", verb::post,
              "/files/move" + query({{"source", from}, {"destination", to}}),
              only_once);
}

call remove(std::string_view path, bool with_all_in_it) {
  return tool(
    "remove a file", verb::delete_,
    "/files"
      + query({{"path", path}, {"recursive", with_all_in_it ? "true" : ""}}),
    repeatable);
}

call search_names(std::string_view path, std::string_view glob) {
  return tool("search for files", verb::get,
              "/files/search" + query({{"path", path}, {"pattern", glob}}),
              repeatable);
}

call find_text(std::string_view path, std::string_view text) {
  return tool("find a text", verb::get,
              "/files/find" + query({{"path", path}, {"pattern", text}}),
              repeatable);
}

call replace_text(const std::vector<std::string>& files, std::string_view text,
                  std::string_view by) {
  return tool("replace a text", "/files/replace",
              {{"files", array_of(files)}, {"pattern", text}, {"newValue", by}},
              only_once);
}

call set_permissions(std::string_view path, std::string_view mode,
                     std::string_view owner, std::string_view group) {
  return tool(
    "set permissions", verb::post,
    "/files/permissions"
      + query(
        {{"path", path}, {"mode", mode}, {"owner", owner}, {"group", group}}),
    repeatable);
}

// -- commands and code --------------------------------------------------------

call execute(std::string_view command, std::string_view folder,
             const texts& env, std::chrono::seconds limit) {
  json::object body{{"command", command},
                    {"timeout", std::int64_t{limit.count()}}};
  if (!folder.empty())
    body["cwd"] = folder;
  if (!env.empty())
    body["envs"] = object_of(env);
  return tool("run a command", "/process/execute", body, only_once);
}

call run_code(std::string_view code, std::string_view language,
              const std::vector<std::string>& argv, const texts& env,
              std::chrono::seconds limit) {
  json::object body{{"code", code},
                    {"language", language},
                    {"timeout", std::int64_t{limit.count()}}};
  if (!argv.empty())
    body["argv"] = array_of(argv);
  if (!env.empty())
    body["envs"] = object_of(env);
  return tool("run code", "/process/code-run", body, only_once);
}

// -- git ----------------------------------------------------------------------

call git_clone(std::string_view url, std::string_view path,
               std::string_view branch, const std::optional<git_login>& login) {
  json::object body{{"url", url}, {"path", path}};
  if (!branch.empty())
    body["branch"] = branch;
  add_login(body, login);
  return tool("clone a repository", "/git/clone", body, only_once);
}

call git_status(std::string_view path) {
  return tool("show a repository", verb::get,
              "/git/status" + query({{"path", path}}), repeatable);
}

call git_add(std::string_view path, const std::vector<std::string>& files) {
  auto body = at_path(path);
  body["files"] = array_of(files);
  return tool("add to a repository", "/git/add", body, repeatable);
}

call git_commit(std::string_view path, std::string_view message,
                std::string_view author, std::string_view email) {
  auto body = at_path(path);
  body["message"] = message;
  body["author"] = author;
  body["email"] = email;
  return tool("commit", "/git/commit", body, only_once);
}

call git_push(std::string_view path, const std::optional<git_login>& login) {
  auto body = at_path(path);
  add_login(body, login);
  return tool("push", "/git/push", body, repeatable);
}

call git_pull(std::string_view path, const std::optional<git_login>& login) {
  auto body = at_path(path);
  add_login(body, login);
  return tool("pull", "/git/pull", body, repeatable);
}

call git_branches(std::string_view path) {
  return tool("list branches", verb::get,
              "/git/branches" + query({{"path", path}}), repeatable);
}

call git_create_branch(std::string_view path, std::string_view name) {
  auto body = at_path(path);
  body["name"] = name;
  return tool("make a branch", "/git/branches", body, only_once);
}

call git_delete_branch(std::string_view path, std::string_view name) {
  auto out = git_create_branch(path, name);
  out.doing = "remove a branch";
  out.method = verb::delete_;
  return out;
}

call git_checkout(std::string_view path, std::string_view branch) {
  auto body = at_path(path);
  body["branch"] = branch;
  return tool("check a branch out", "/git/checkout", body, repeatable);
}

} // namespace troupe::net::daytona
