#include "tests/support/providers/fake_aio_files.hpp"

#include "net/http/multipart.hpp"
#include "tests/support/providers/fake_files.hpp"

#include <fnmatch.h>

#include <regex>

namespace troupe::test {

namespace fs = std::filesystem;

namespace {

void good(stand_reply& reply, json::object data) {
  json::object o{{"success", true}, {"message", nullptr}};
  o["data"] = std::move(data);
  reply.json(200, json::to_text(o));
}

/// With status 200 all the same.
void bad(stand_reply& reply, std::string_view type) {
  json::object data{{"error_type", type}, {"retryable", false}};
  json::object o{{"success", false}, {"message", type}};
  o["data"] = std::move(data);
  reply.json(200, json::to_text(o));
}

void invalid(stand_reply& reply) {
  reply.json(422, R"({"detail":[{"msg":"a field is missing or unknown"}]})");
}

std::string text_at(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

std::string lines_between(std::string_view text, std::int64_t from,
                          std::int64_t to) {
  std::string out;
  for (std::int64_t n = 0; !text.empty(); ++n) {
    auto line = text.substr(0, text.find('\n') + 1);
    if (n >= from && n < to)
      out += line;
    text.remove_prefix(line.size());
  }
  return out;
}

void on_file(const std::string& call, const json::object& body,
             const fs::path& path, stand_reply& reply) {
  if (call == "write") {
    if (!fs::is_directory(path.parent_path()))
      return bad(reply, "not_found");
    if (text_at(body, "encoding") != "utf-8")
      return invalid(reply);
    spill(path, text_at(body, "content"));
    return good(reply, {{"bytes_written", text_at(body, "content").size()}});
  }
  auto bytes = slurp(path);
  if (!bytes)
    return bad(reply, "not_found");
  if (call == "read") {
    auto from
      = body.contains("start_line") ? body.at("start_line").as_int64() : 0;
    auto to
      = body.contains("end_line") ? body.at("end_line").as_int64() : 1'000'000;
    return good(reply, {{"content", lines_between(*bytes, from, to)}});
  }
  if (call == "replace") {
    auto at = bytes->find(text_at(body, "old_str"));
    if (at == std::string::npos)
      return bad(reply, "invalid_target");
    bytes->replace(at, text_at(body, "old_str").size(),
                   text_at(body, "new_str"));
    spill(path, *bytes);
    return good(reply, {{"replaced_count", 1}});
  }
  json::array matches;
  std::regex wanted{text_at(body, "regex")};
  for (std::sregex_iterator i{bytes->begin(), bytes->end(), wanted}, end;
       i != end; ++i)
    matches.emplace_back(i->str());
  good(reply, {{"matches", std::move(matches)}});
}

void in_folder(const std::string& call, const json::object& body,
               const fs::path& path, stand_reply& reply) {
  if (!fs::is_directory(path))
    return bad(reply, "not_found");
  json::array files, names, matches;
  for (const auto& each : fs::directory_iterator{path}) {
    auto name = each.path().filename().string();
    json::object o{{"name", name}, {"path", each.path().string()}};
    o["is_directory"] = each.is_directory();
    if (!each.is_directory() && body.contains("include_size"))
      o["size"] = each.file_size();
    files.push_back(std::move(o));
    if (::fnmatch(text_at(body, "glob").c_str(), name.c_str(), 0) == 0)
      names.emplace_back(each.path().string());
    auto bytes = slurp(each.path());
    if (bytes && bytes->find(text_at(body, "pattern")) != std::string::npos)
      matches.push_back(json::object{{"file", each.path().string()}});
  }
  if (call == "list")
    return good(reply, {{"files", std::move(files)}});
  if (call == "find")
    return good(reply, {{"files", std::move(names)}});
  good(reply, {{"matches", std::move(matches)}});
}

/// First the file, then where it goes.
void upload(const stand_request& r, stand_reply& reply,
            const std::function<std::string(std::string)>& translated) {
  auto form = net::parse_form(r.header("content-type"), r.body);
  fs::path path = translated(std::string{form->at(1).content});
  if (!fs::is_directory(path.parent_path()))
    return bad(reply, "not_found");
  spill(path, form->at(0).content);
  good(reply, {{"success", true}});
}

} // namespace

void play_aio_files(const stand_request& r, stand_reply& reply,
                    const std::function<std::string(std::string)>& translated) {
  constexpr std::string_view prefix = "/v1/file/";
  if (!r.path.starts_with(prefix))
    return;
  auto call = r.path.substr(prefix.size());
  if (call == "download") {
    auto bytes = slurp(translated(r.query.at("path")));
    return bytes ? reply.send(200, *bytes)
                 : reply.json(404, "{\"detail\":\"no such file\"}");
  }
  if (call == "upload")
    return upload(r, reply, translated);
  auto body = json::parse_object(r.body);
  auto file = text_at(*body, "file");
  if (!file.empty())
    return on_file(call, *body, translated(file), reply);
  in_folder(call, *body, translated(text_at(*body, "path")), reply);
}

void play_aio_code(const stand_request& r, stand_reply& reply) {
  auto jupyter = r.path == "/v1/jupyter/execute";
  auto node = r.path == "/v1/nodejs/execute";
  auto any = r.path == "/v1/code/execute";
  if (!jupyter && !node && !any)
    return;
  auto body = json::parse_object(r.body);
  auto language = text_at(*body, "language");
  std::string out, err;
  program_run what;
  what.argv = {node || language == "javascript" ? "node" : "python3", "-"};
  what.input = text_at(*body, "code");
  what.sink = [&](bool is_err, std::string_view bytes) {
    (is_err ? err : out) += bytes;
  };
  auto status = run_program(what);
  json::object data{{"status", status == 0 ? "ok" : "error"}};
  if (jupyter) {
    data["outputs"] = json::array{json::object{
      {"output_type", "stream"}, {"name", "stdout"}, {"text", out}}};
  } else {
    data["stdout"] = out;
    data["stderr"] = err;
    data["exit_code"] = status;
    data["outputs"] = json::array{};
  }
  good(reply, std::move(data));
}

} // namespace troupe::test
