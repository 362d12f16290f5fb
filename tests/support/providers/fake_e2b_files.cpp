#include "tests/support/providers/fake_e2b_files.hpp"

#include "net/http/multipart.hpp"
#include "tests/support/providers/fake_files.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;

void refuse(stand_reply& reply, int status, std::string_view code,
            std::string_view why) {
  json::object o{{"code", code}, {"message", why}};
  reply.json(status, json::to_text(o));
}

void refuse(stand_reply& reply, int status, std::string_view why) {
  json::object o{{"code", status}, {"message", why}};
  reply.json(status, json::to_text(o));
}

/// As their JSON has it: what is zero is left out, 64 bits are a text.
json::object described(const fs::path& path) {
  std::error_code ignored;
  auto folder = fs::is_directory(path);
  json::object o;
  o["name"] = path.filename().string();
  o["type"] = folder ? "FILE_TYPE_DIRECTORY" : "FILE_TYPE_FILE";
  o["path"] = path.string();
  if (auto size = folder ? 0 : fs::file_size(path, ignored); size > 0)
    o["size"] = std::to_string(size);
  o["mode"] = 0644;
  o["permissions"] = folder ? "drwxr-xr-x" : "-rw-r--r--";
  o["owner"] = "user";
  o["group"] = "user";
  return o;
}

/// Each part is `file`. One goes to the query's path, several to their names.
void take(const stand_request& r, stand_reply& reply) {
  auto form = net::parse_form(r.header("content-type"), r.body);
  if (!form || form->empty())
    return refuse(reply, 400, "no form with a file");
  auto one = r.query.contains("path");
  if (one && form->size() != 1)
    return refuse(reply, 400, "one path for several files");
  json::array written;
  for (const auto& part : *form) {
    fs::path to = one ? r.query.at("path") : part.filename;
    if (part.name != "file" || !to.is_absolute())
      return refuse(reply, 400, "a part is no file, or goes nowhere");
    if (!spill(to, part.content))
      return refuse(reply, 500, "it cannot be written");
    written.push_back(json::object{{"path", to.string()},
                                   {"name", to.filename().string()},
                                   {"type", "file"}});
  }
  reply.send(200, json::to_text(written), {{"Content-Type", "text/plain"}});
}

void give(const stand_request& r, stand_reply& reply) {
  if (!r.query.contains("path"))
    return refuse(reply, 400, "no path");
  fs::path path = r.query.at("path");
  if (fs::is_directory(path))
    return refuse(reply, 400, "it is a directory");
  auto bytes = slurp(path);
  if (!bytes)
    return refuse(reply, 404, "there is no such file");
  reply.send(200, *bytes, {{"Content-Type", "application/octet-stream"}});
}

void list(const json::object& body, stand_reply& reply) {
  fs::path path{std::string{body.at("path").as_string()}};
  if (!body.contains("depth") || body.at("depth") != 1)
    return refuse(reply, 400, "invalid_argument", "depth is not 1");
  if (!fs::is_directory(path))
    return refuse(reply, 404, "not_found", "no such directory");
  json::array entries;
  for (const auto& each : fs::directory_iterator{path})
    entries.push_back(described(each.path()));
  json::object out;
  if (!entries.empty())
    out["entries"] = std::move(entries);
  reply.json(200, json::to_text(out));
}

void entry(const fs::path& path, stand_reply& reply) {
  json::object out;
  out["entry"] = described(path);
  reply.json(200, json::to_text(out));
}

void move(const json::object& body, stand_reply& reply) {
  fs::path from{std::string{body.at("source").as_string()}};
  fs::path to{std::string{body.at("destination").as_string()}};
  if (!fs::exists(from))
    return refuse(reply, 404, "not_found", "there is nothing to move");
  fs::create_directories(to.parent_path());
  fs::rename(from, to);
  entry(to, reply);
}

void call(const stand_request& r, stand_reply& reply) {
  auto method = r.path.substr(r.path.rfind('/') + 1);
  auto body = json::parse_object(r.body);
  auto right = body
    && (method == "Move"        ? has_only(*body, 2, {"source", "destination"})
          : method == "ListDir" ? has_only(*body, 1, {"path", "depth"})
                                : has_only(*body, 1, {"path"}));
  if (!right)
    return refuse(reply, 400, "invalid_argument", "not such a message");
  if (method == "Move")
    return move(*body, reply);
  if (method == "ListDir")
    return list(*body, reply);
  fs::path path{std::string{body->at("path").as_string()}};
  if (method == "Remove") {
    fs::remove_all(path);
    return reply.json(200, "{}");
  }
  if (method == "MakeDir") {
    if (fs::exists(path))
      return refuse(reply, 409, "already_exists", "it is there");
    fs::create_directories(path);
    return entry(path, reply);
  }
  if (method != "Stat")
    return refuse(reply, 404, "unimplemented", "no such method");
  if (!fs::exists(path))
    return refuse(reply, 404, "not_found", "there is no such file");
  entry(path, reply);
}

} // namespace

void play_envd_files(const stand_request& r, stand_reply& reply,
                     bool wants_username) {
  if (r.path == "/files") {
    if (wants_username && !r.query.contains("username"))
      return refuse(reply, 401, "no user specified");
    if (!asks_only(r, 0, {"path", "username"}))
      return refuse(reply, 400, "a parameter is unknown");
    return r.method == "POST" ? take(r, reply) : give(r, reply);
  }
  if (r.header("content-type") != "application/json")
    return refuse(reply, 415, "unknown", "not a unary call");
  if (r.method != "POST" || r.header("connect-protocol-version") != "1")
    return refuse(reply, 400, "invalid_argument", "no version of the protocol");
  call(r, reply);
}

} // namespace troupe::test
