#include "net/providers/e2b/calls.hpp"

#include "net/http/multipart.hpp"
#include "net/http/url.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

#include <charconv>

namespace troupe::net::e2b {

namespace {

using verb = operation::verb;

constexpr bool repeatable = true;
constexpr bool only_once = false;
constexpr std::size_t max_id_bytes = 128;

call api(std::string_view doing, verb method, std::string_view sandbox,
         std::string_view more, const json::object* body, bool again) {
  return {{doing,
           method,
           "/sandboxes/" + percent_encode(sandbox) + std::string{more},
           body ? json::to_text(*body) : std::string{},
           {},
           again},
          plane::api};
}

/// A unary call of the Connect protocol.
call rpc(std::string_view doing, std::string_view method,
         const json::object& message, bool again) {
  return {{doing,
           verb::post,
           "/" + std::string{method},
           json::to_text(message),
           {},
           again},
          plane::envd};
}

call code(std::string_view doing, verb method, std::string target,
          std::string body = {}) {
  return {{doing,
           method,
           "/contexts" + std::move(target),
           std::move(body),
           {},
           method == verb::delete_},
          plane::interpreter};
}

std::string files_target(std::string_view path, std::string_view user) {
  std::string out = "/files";
  if (!path.empty())
    out += "?path=" + percent_encode(path);
  if (!user.empty())
    out += std::string{path.empty() ? "?" : "&"}
      + "username=" + percent_encode(user);
  return out;
}

json::object of_process(std::uint32_t pid) {
  return {{"process", json::object{{"pid", pid}}}};
}

std::string text_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

/// 64 bit integers are texts in their JSON, and those that are 0 are left out.
std::uint64_t size_of(const json::object& o) {
  std::uint64_t n = 0;
  auto text = text_of(o, "size");
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

result<sandbox_entry> entry_of(const json::value& v) {
  auto* o = v.if_object();
  sandbox_entry out;
  if (o) {
    out.name = text_of(*o, "name");
    out.path = text_of(*o, "path");
    out.folder = text_of(*o, "type") == "FILE_TYPE_DIRECTORY";
    out.bytes = size_of(*o);
  }
  if (out.name.empty())
    return fail(ec::unavailable, "E2B returned a file without a name");
  return out;
}

} // namespace

// -- the sandbox itself -------------------------------------------------------

call show_sandbox(std::string_view sandbox) {
  return api("show a sandbox", verb::get, sandbox, "", nullptr, repeatable);
}

call set_timeout(std::string_view sandbox, std::chrono::seconds left) {
  json::object body{{"timeout", std::int64_t{left.count()}}};
  return api("set a sandbox's time", verb::post, sandbox, "/timeout", &body,
             repeatable);
}

call pause_sandbox(std::string_view sandbox) {
  json::object body;
  return api("pause a sandbox", verb::post, sandbox, "/pause", &body,
             only_once);
}

// -- files --------------------------------------------------------------------

/// As a form: every envd takes that, plain bytes only the newer ones.
call write_files(const std::vector<sandbox_file>& files,
                 std::string_view user) {
  std::vector<form_part> parts;
  for (const auto& file : files)
    parts.push_back(form_file("file", file.path, file.content));
  auto boundary = make_boundary();
  auto one = files.size() == 1 ? files.front().path : std::string{};
  return {{"take a file", verb::post, files_target(one, user),
           form_body(parts, boundary), form_type(boundary), repeatable},
          plane::envd};
}

call read_file(std::string_view path, std::string_view user) {
  return {{"read a file", verb::get, files_target(path, user)}, plane::envd};
}

call list_folder(std::string_view path) {
  return rpc("list a directory", "filesystem.Filesystem/ListDir",
             {{"path", path}, {"depth", 1}}, repeatable);
}

call stat(std::string_view path) {
  return rpc("inspect a file", "filesystem.Filesystem/Stat", {{"path", path}},
             repeatable);
}

call make_folder(std::string_view path) {
  return rpc("create a directory", "filesystem.Filesystem/MakeDir",
             {{"path", path}}, repeatable);
}

/// Twice, and the second one finds nothing to move.
call move(std::string_view from, std::string_view to) {
  return rpc("move a file", "filesystem.Filesystem/Move",
             {{"source", from}, {"destination", to}}, only_once);
}

call remove(std::string_view path) {
  return rpc("remove a file", "filesystem.Filesystem/Remove", {{"path", path}},
             repeatable);
}

// -- processes ----------------------------------------------------------------

call list_processes() {
  return rpc("list processes", "process.Process/List", {}, repeatable);
}

call send_signal(std::uint32_t pid, std::string_view signal) {
  auto body = of_process(pid);
  body["signal"] = signal;
  return rpc("end a process", "process.Process/SendSignal", body, repeatable);
}

call send_input(std::uint32_t pid, std::string_view input) {
  auto body = of_process(pid);
  body["input"] = json::object{{"stdin", frame::to_base64(input)}};
  return rpc("give a process its input", "process.Process/SendInput", body,
             only_once);
}

call close_input(std::uint32_t pid) {
  return rpc("end a process's input", "process.Process/CloseStdin",
             of_process(pid), repeatable);
}

// -- contexts -----------------------------------------------------------------

call create_context(std::string_view language, std::string_view folder) {
  json::object body{{"language", language}, {"cwd", folder}};
  return code("create a context", verb::post, "", json::to_text(body));
}

call list_contexts() {
  return code("list contexts", verb::get, "");
}

call restart_context(std::string_view id) {
  return code("restart a context", verb::post,
              "/" + percent_encode(id) + "/restart");
}

call remove_context(std::string_view id) {
  return code("remove a context", verb::delete_, "/" + percent_encode(id));
}

// -- what comes back ----------------------------------------------------------

result<std::vector<sandbox_entry>> parse_entries(std::string_view body) {
  auto parsed = json::parse_object(body);
  if (!parsed)
    return fail(ec::unavailable, "E2B listed a directory with no JSON object");
  std::vector<sandbox_entry> out;
  auto* all = parsed->if_contains("entries"); // left out when there are none
  if (!all || !all->is_array())
    return out;
  for (const auto& each : all->as_array()) {
    auto entry = entry_of(each);
    if (!entry)
      return entry.error();
    out.push_back(std::move(*entry));
  }
  return out;
}

result<sandbox_entry> parse_entry(std::string_view body) {
  auto parsed = json::parse_object(body);
  auto* entry = parsed ? parsed->if_contains("entry") : nullptr;
  return entry_of(entry ? *entry : json::value{});
}

result<std::string> parse_state(std::string_view body) {
  auto parsed = json::parse_object(body);
  auto state = parsed ? text_of(*parsed, "state") : std::string{};
  if (state.empty())
    return fail(ec::unavailable, "E2B showed a sandbox without its state");
  return state;
}

result<std::uint32_t> find_process(std::string_view body,
                                   std::string_view last_word) {
  auto parsed = json::parse_object(body);
  auto* all = parsed ? parsed->if_contains("processes") : nullptr;
  if (!all || !all->is_array())
    return fail(ec::not_found, "E2B listed no processes");
  for (const auto& each : all->as_array()) {
    auto* o = each.if_object();
    auto* config = o ? o->if_contains("config") : nullptr;
    auto* args = config && config->is_object()
      ? config->as_object().if_contains("args")
      : nullptr;
    auto* pid = o ? o->if_contains("pid") : nullptr;
    if (!args || !args->is_array() || args->as_array().empty() || !pid
        || !pid->is_int64())
      continue;
    const auto& last = args->as_array().back();
    if (last.is_string()
        && std::string_view{last.as_string()}.ends_with(last_word))
      return static_cast<std::uint32_t>(pid->as_int64());
  }
  return fail(ec::not_found, "E2B does not list the process");
}

result<std::string> parse_context(std::string_view body) {
  auto parsed = json::parse_object(body);
  auto id = parsed ? text_of(*parsed, "id") : std::string{};
  if (id.empty() || id.size() > max_id_bytes)
    return fail(ec::unavailable, "E2B gave the context no id");
  return id;
}

result<std::vector<std::string>> parse_contexts(std::string_view body) {
  auto parsed = json::parse(body);
  if (!parsed || !parsed->is_array())
    return fail(ec::unavailable, "E2B listed contexts with no JSON array");
  std::vector<std::string> out;
  for (const auto& each : parsed->as_array())
    if (auto* o = each.if_object())
      out.push_back(text_of(*o, "id"));
  return out;
}

} // namespace troupe::net::e2b
