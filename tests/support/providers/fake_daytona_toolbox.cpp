#include "tests/support/providers/fake_daytona_toolbox.hpp"

#include "net/http/multipart.hpp"
#include "tests/support/providers/fake_files.hpp"

#include <fnmatch.h>

namespace troupe::test {

namespace fs = std::filesystem;

namespace {

void refuse(stand_reply& reply, int status, std::string_view why,
            std::string_view code = "BAD_REQUEST") {
  json::object o{{"statusCode", status}, {"message", why}, {"code", code}};
  reply.json(status, json::to_text(o));
}

void missing(stand_reply& reply) {
  refuse(reply, 404, "there is no such file", "FILE_NOT_FOUND");
}

json::object described(const fs::path& path) {
  auto folder = fs::is_directory(path);
  json::object o;
  o["name"] = path.filename().string();
  o["isDir"] = folder;
  o["size"] = folder ? 4'096 : fs::file_size(path);
  o["mode"] = folder ? "drwxr-xr-x" : "-rw-r--r--";
  o["permissions"] = folder ? "0755" : "0644";
  o["owner"] = "daytona";
  o["group"] = "daytona";
  o["modTime"] = "2026-01-01 00:00:00 +0000 UTC";
  return o;
}

std::string text_at(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

std::map<std::string, std::string> texts_at(const json::object& o,
                                            std::string_view name) {
  std::map<std::string, std::string> out;
  if (auto* v = o.if_contains(name); v && v->is_object())
    for (const auto& [key, value] : v->as_object())
      out[std::string{key}] = std::string{value.as_string()};
  return out;
}

std::vector<std::string> list_at(const json::object& o, std::string_view name) {
  std::vector<std::string> out;
  if (auto* v = o.if_contains(name); v && v->is_array())
    for (const auto& each : v->as_array())
      out.emplace_back(each.as_string());
  return out;
}

} // namespace

std::string daytona_toolbox::translated(std::string line) const {
  std::string name = "/tmp/troupe-";
  auto there = root_.string() + name;
  for (auto at = line.find(name); at != line.npos;
       at = line.find(name, at + there.size()))
    line.replace(at, name.size(), there);
  return line;
}

void daytona_toolbox::handle(const std::string& call, const stand_request& r,
                             stand_reply& reply) const {
  if (call == "/process/execute" && r.method == "POST")
    return execute(r, reply);
  if (call == "/process/code-run" && r.method == "POST")
    return run_code(r, reply);
  if (call.starts_with("/git/"))
    return git(call.substr(5), r, reply);
  if (call == "/files/bulk-upload" && r.method == "POST")
    return upload(r, reply);
  if (call == "/files/bulk-download" && r.method == "POST")
    return download(r, reply);
  if ((call == "/files/search" || call == "/files/find") && r.method == "GET")
    return search(call, r, reply);
  if (call == "/files/replace" && r.method == "POST")
    return replace(r, reply);
  if (call.starts_with("/files"))
    files(call, r, reply);
}

// -- files --------------------------------------------------------------------

void daytona_toolbox::files(const std::string& call, const stand_request& r,
                            stand_reply& reply) const {
  auto is = [&](std::string_view method, std::string_view path) {
    return r.method == method && call == path;
  };
  if (is("POST", "/files/move")) {
    if (!asks_only(r, 2, {"source", "destination"}))
      return refuse(reply, 400, "source and destination");
    auto to = real(r.query.at("destination"));
    if (!fs::exists(real(r.query.at("source"))))
      return missing(reply);
    fs::rename(real(r.query.at("source")), to);
    return reply.send(200);
  }
  if (!r.query.contains("path"))
    return refuse(reply, 400, "path is required");
  auto path = real(r.query.at("path"));
  if (is("POST", "/files/folder")) {
    if (!asks_only(r, 2, {"path", "mode"}))
      return refuse(reply, 400, "mode is required");
    fs::create_directories(path);
    return reply.send(201);
  }
  if (!fs::exists(path))
    return missing(reply);
  if (is("POST", "/files/permissions")) {
    if (!asks_only(r, 1, {"path", "mode", "owner", "group"}))
      return refuse(reply, 400, "a parameter is unknown");
    return reply.send(200);
  }
  if (is("DELETE", "/files")) {
    if (fs::is_directory(path) && !r.query.contains("recursive"))
      return refuse(reply, 400, "a directory goes with recursive only");
    fs::remove_all(path);
    return reply.send(204);
  }
  if (!asks_only(r, 1, {"path", "depth"}) || r.method != "GET")
    return refuse(reply, 400, "a parameter is unknown");
  if (call == "/files/info")
    return reply.json(200, json::to_text(described(path)));
  if (call == "/files/download") {
    auto bytes = slurp(path);
    return bytes ? reply.send(200, *bytes) : refuse(reply, 400, "a directory");
  }
  json::array all;
  for (const auto& each : fs::directory_iterator{path})
    all.push_back(described(each.path()));
  reply.json(200, json::to_text(all));
}

/// For each file its path, then the file: in another order it goes nowhere.
void daytona_toolbox::upload(const stand_request& r, stand_reply& reply) const {
  auto form = net::parse_form(r.header("content-type"), r.body);
  if (!form || form->empty() || form->size() % 2 != 0)
    return refuse(reply, 400, "no form of paths and files");
  for (std::size_t i = 0; i < form->size(); i += 2) {
    auto name = "files[" + std::to_string(i / 2) + "].";
    const auto& path = form->at(i);
    const auto& file = form->at(i + 1);
    if (path.name != name + "path" || file.name != name + "file"
        || !path.content.starts_with('/')
        || file.filename.find('/') != std::string::npos)
      return refuse(reply, 400, "a part is out of its place");
    if (!spill(real(std::string{path.content}), file.content))
      return refuse(reply, 500, "it cannot be written");
  }
  reply.json(200, "{\"files\":[]}");
}

void daytona_toolbox::download(const stand_request& r,
                               stand_reply& reply) const {
  auto body = json::parse_object(r.body);
  if (!body || !has_only(*body, 1, {"paths"})
      || r.header("accept") != "multipart/form-data")
    return refuse(reply, 400, "paths, and a form is to be accepted");
  std::vector<std::string> contents;
  std::vector<net::form_part> parts;
  auto paths = list_at(*body, "paths");
  contents.reserve(paths.size());
  for (const auto& path : paths) {
    auto bytes = slurp(real(path));
    contents.push_back(
      bytes ? *bytes
            : R"({"statusCode":404,"message":"none","code":"FILE_NOT_FOUND"})");
    parts.push_back(
      net::form_file(bytes ? "file" : "error", path, contents.back()));
  }
  auto boundary = net::make_boundary();
  reply.send(200, net::form_body(parts, boundary),
             {{"Content-Type", net::form_type(boundary)}});
}

void daytona_toolbox::search(const std::string& call, const stand_request& r,
                             stand_reply& reply) const {
  if (!asks_only(r, 2, {"path", "pattern"}))
    return refuse(reply, 400, "path and pattern");
  const auto& pattern = r.query.at("pattern");
  json::array names, lines;
  for (const auto& each :
       fs::recursive_directory_iterator{real(r.query.at("path"))}) {
    auto name = each.path().filename().string();
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
      names.emplace_back(each.path().string());
    auto bytes = slurp(each.path());
    if (auto at = bytes ? bytes->find(pattern) : std::string::npos;
        at != std::string::npos)
      lines.push_back(json::object{{"file", each.path().string()},
                                   {"line", 1},
                                   {"content", bytes->substr(at)}});
  }
  if (call == "/files/find")
    return reply.json(200, json::to_text(lines));
  reply.json(200, json::to_text(json::object{{"files", std::move(names)}}));
}

void daytona_toolbox::replace(const stand_request& r,
                              stand_reply& reply) const {
  auto body = json::parse_object(r.body);
  if (!body || !has_only(*body, 3, {"files", "pattern", "newValue"}))
    return refuse(reply, 400, "files, pattern and newValue");
  auto from = text_at(*body, "pattern");
  json::array out;
  for (const auto& path : list_at(*body, "files")) {
    auto bytes = slurp(real(path));
    auto at = bytes ? bytes->find(from) : std::string::npos;
    if (at != std::string::npos)
      spill(real(path),
            bytes->replace(at, from.size(), text_at(*body, "newValue")));
    out.push_back(json::object{{"file", path}, {"success", bytes.has_value()}});
  }
  reply.json(200, json::to_text(out));
}

// -- commands -----------------------------------------------------------------

void daytona_toolbox::mixed(program_run what, stand_reply& reply) const {
  std::string text;
  auto own = what.env;
  what.env = env_;
  for (const auto& [name, value] : own)
    what.env[name] = value;
  what.sink = [&](bool, std::string_view bytes) { text += bytes; };
  json::object out;
  out["exitCode"] = run_program(what);
  out["result"] = json::repair_utf8(text);
  reply.json(200, json::to_text(out));
}

void daytona_toolbox::execute(const stand_request& r,
                              stand_reply& reply) const {
  auto body = json::parse_object(r.body);
  if (!body || !has_only(*body, 1, {"command", "cwd", "envs", "timeout"}))
    return refuse(reply, 400, "command is required, or a member unknown");
  program_run what;
  auto line = translated(text_at(*body, "command"));
  if (auto folder = text_at(*body, "cwd"); !folder.empty())
    line = "cd '" + folder + "' && " + line;
  what.argv = {"/bin/sh", "-c", line};
  what.env = texts_at(*body, "envs");
  mixed(std::move(what), reply);
}

void daytona_toolbox::run_code(const stand_request& r,
                               stand_reply& reply) const {
  auto body = json::parse_object(r.body);
  if (!body
      || !has_only(*body, 2, {"code", "language", "argv", "envs", "timeout"})
      || body->at("language") != "python")
    return refuse(reply, 400, "code or language, or a member unknown");
  program_run what;
  what.argv = {"python3", "-c", text_at(*body, "code")};
  for (auto& word : list_at(*body, "argv"))
    what.argv.push_back(word);
  what.env = texts_at(*body, "envs");
  mixed(std::move(what), reply);
}

} // namespace troupe::test
