#include "tests/support/daytona_stand_in.hpp"

#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace troupe::test {

namespace {

std::string refusal(int code, std::string_view why) {
  json::object o{{"statusCode", code}, {"message", why}};
  return json::to_text(o);
}

std::map<std::string, std::string> texts(const json::value* v) {
  std::map<std::string, std::string> out;
  if (v && v->is_object())
    for (const auto& [name, value] : v->as_object())
      if (value.is_string())
        out[std::string{name}] = std::string{value.as_string()};
  return out;
}

bool known_member(std::string_view name) {
  for (auto known : {"name", "snapshot", "buildInfo", "env", "labels", "public",
                     "target", "autoStopInterval", "autoDeleteInterval",
                     "networkBlockAll", "networkAllowList", "domainAllowList"})
    if (name == known)
      return true;
  return false;
}

std::filesystem::path temporary_path() {
  return std::filesystem::temp_directory_path()
    / ("troupe-daytona-" + make_uuid());
}

/// The text between a part's blank line and the next boundary.
std::string part(std::string_view body, std::string_view name) {
  auto at = body.find("name=\"" + std::string{name} + "\"");
  if (at == body.npos)
    return {};
  auto begin = body.find("\r\n\r\n", at) + 4;
  return std::string{body.substr(begin, body.find("\r\n--", begin) - begin)};
}

} // namespace

daytona_stand_in::daytona_stand_in()
    : tmp_{temporary_path()}, server_{[this](const stand_request& r,
                                             stand_reply& reply) {
        handle(r, reply);
      }} {}

daytona_stand_in::~daytona_stand_in() {
  std::error_code ignored;
  std::filesystem::remove_all(tmp_, ignored);
}

int daytona_stand_in::rejoined() const {
  std::lock_guard guard{mutex_};
  return rejoined_;
}

void daytona_stand_in::stop_everything() {
  std::lock_guard guard{mutex_};
  boxes_.clear();
}

int daytona_stand_in::created() const {
  std::lock_guard guard{mutex_};
  return created_;
}

int daytona_stand_in::alive() const {
  std::lock_guard guard{mutex_};
  return static_cast<int>(boxes_.size());
}

std::string daytona_stand_in::creation() const {
  std::lock_guard guard{mutex_};
  return creation_;
}

void daytona_stand_in::handle(const stand_request& r, stand_reply& reply) {
  if (r.header("authorization") != std::string{"Bearer "} + api_key)
    return reply.json(401, refusal(401, "Unauthorized"));
  if (r.header("x-daytona-sdk-version").empty())
    return reply.json(400, refusal(400, "no SDK version"));
  std::lock_guard guard{mutex_};
  if (r.path.starts_with("/api/sandbox"))
    control(r, reply);
  else if (r.path.starts_with("/toolbox/"))
    toolbox(r, reply);
}

std::string daytona_stand_in::show(const box& b) const {
  json::object o;
  o["id"] = b.id;
  o["state"] = b.looks > 1 ? "started" : "creating";
  json::object labels;
  for (const auto& [k, v] : b.labels)
    labels[k] = v;
  o["labels"] = std::move(labels);
  o["toolboxProxyUrl"] = server_.url() + "/toolbox";
  return json::to_text(o);
}

void daytona_stand_in::create(const stand_request& r, stand_reply& reply) {
  auto body = json::parse_object(r.body);
  if (!body)
    return reply.json(400, refusal(400, "no JSON object"));
  for (const auto& [name, value] : *body)
    if (!known_member(name))
      return reply.json(400, refusal(400, std::string{name} + " is unknown"));
  box b;
  if (auto* name = body->if_contains("name"))
    b.name = name->as_string();
  for (const auto& [id, other] : boxes_)
    if (!b.name.empty() && other.name == b.name)
      return reply.json(409, refusal(409, "the name is taken"));
  b.id = "box-" + std::to_string(++created_);
  b.labels = texts(body->if_contains("labels"));
  b.env = texts(body->if_contains("env"));
  b.home = tmp_ / b.id;
  std::filesystem::create_directories(b.home);
  creation_ = r.body;
  auto text = show(b);
  boxes_[b.id] = std::move(b);
  reply.json(200, text);
}

void daytona_stand_in::control(const stand_request& r, stand_reply& reply) {
  if (r.path == "/api/sandbox" && r.method == "POST")
    return create(r, reply);
  if (r.path == "/api/sandbox" && r.method == "GET") {
    auto filter = json::parse(r.query.at("labels"));
    auto wanted = filter ? texts(&*filter) : decltype(box::labels){};
    std::string items;
    for (const auto& [id, b] : boxes_)
      if (std::ranges::includes(b.labels, wanted))
        items += (items.empty() ? "" : ",") + show(b);
    return reply.json(200, "{\"items\":[" + items + "],\"nextCursor\":null}");
  }
  auto id = r.path.substr(13);
  auto asked = id.substr(0, id.find('/'));
  auto found = std::ranges::find_if(boxes_, [&](const auto& each) {
    return each.first == asked || each.second.name == asked;
  });
  if (found == boxes_.end())
    return reply.json(404, refusal(404, "no such sandbox"));
  if (id.ends_with("/last-activity") && r.method == "POST") {
    ++rejoined_;
    return reply.send(201);
  }
  if (r.method == "DELETE") {
    boxes_.erase(found);
    return reply.json(200, "{}");
  }
  ++found->second.looks;
  reply.json(200, show(found->second));
}

void daytona_stand_in::toolbox(const stand_request& r, stand_reply& reply) {
  auto rest = r.path.substr(9);
  auto found = boxes_.find(rest.substr(0, rest.find('/')));
  if (found == boxes_.end())
    return reply.json(404, refusal(404, "no such sandbox"));
  auto& b = found->second;
  auto call = rest.substr(std::min(rest.size(), rest.find('/')));
  std::string commands = "/process/session/troupe/command/";
  if (call == "/files/bulk-upload")
    return upload(r, reply, b);
  if (call == "/process/session") {
    if (std::exchange(b.session, true))
      return reply.json(409, refusal(409, "the session exists"));
    return reply.send(201);
  }
  if (call == "/process/session/troupe/exec")
    return run(r, reply, b);
  if (!call.starts_with(commands))
    return;
  auto id = call.substr(commands.size());
  auto logs = id.ends_with("/logs");
  auto command = b.commands.find(id.substr(0, id.find('/')));
  if (command == b.commands.end())
    return reply.json(404, refusal(404, "no such command"));
  auto seen = command->second->look();
  json::object o;
  if (logs) {
    o["stdout"] = json::repair_utf8(seen.out);
    o["stderr"] = json::repair_utf8(seen.err);
  } else if (seen.code) {
    o["exitCode"] = *seen.code;
  }
  reply.json(200, json::to_text(o));
}

void daytona_stand_in::upload(const stand_request& r, stand_reply& reply,
                              box& b) {
  auto path = part(r.body, "files[0].path");
  if (path.empty() || !r.header("content-type").starts_with("multipart/"))
    return reply.json(400, refusal(400, "no path"));
  b.files[path] = b.home / std::filesystem::path{path}.filename();
  std::ofstream{b.files[path]} << part(r.body, "files[0].file");
  reply.json(200, "{\"files\":[]}");
}

void daytona_stand_in::run(const stand_request& r, stand_reply& reply, box& b) {
  auto body = json::parse_object(r.body);
  if (!b.session || !body || !body->contains("command")
      || !body->contains("runAsync"))
    return reply.json(400, refusal(400, "no session or command"));
  std::string line{body->at("command").as_string()};
  for (const auto& [path, real] : b.files)
    for (auto at = line.find(path); at != line.npos;
         at = line.find(path, at + real.string().size()))
      line.replace(at, path.size(), real.string());
  auto id = "cmd-" + std::to_string(b.commands.size() + 1);
  program_run what;
  what.argv = {"/bin/sh", "-c", line};
  what.env = b.env;
  b.commands[id] = std::make_shared<background_program>(std::move(what));
  reply.json(202, "{\"cmdId\":\"" + id + "\"}");
}

} // namespace troupe::test
