#include "tests/support/providers/fake_daytona.hpp"

#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"
#include "tests/support/providers/fake_daytona_toolbox.hpp"
#include "tests/support/providers/fake_files.hpp"

#include <algorithm>
#include <filesystem>

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

} // namespace

daytona_stand_in::daytona_stand_in(const tls_faces* faces)
    : tmp_{temporary_path()}, server_{[this](const stand_request& r,
                                             stand_reply& reply) {
                                        handle(r, reply);
                                      },
                                      faces} {}

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

void daytona_stand_in::list_in_pages() {
  std::lock_guard guard{mutex_};
  pages_ = true;
}

void daytona_stand_in::serve_tokens_of(std::string organization) {
  std::lock_guard guard{mutex_};
  organization_ = std::move(organization);
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
  if (r.header("x-daytona-organization-id") != organization_)
    return reply.json(403, refusal(403, "of another organization, or of none"));
  if (r.path.starts_with("/api/sandbox"))
    control(r, reply);
  else if (r.path.starts_with("/toolbox/"))
    toolbox(r, reply);
}

std::string daytona_stand_in::show(const box& b) const {
  json::object o;
  o["id"] = b.id;
  o["state"] = !b.state.empty() ? b.state
    : b.looks > 1               ? "started"
                                : "creating";
  json::object labels;
  for (const auto& [k, v] : b.labels)
    labels[k] = v;
  o["labels"] = std::move(labels);
  if (organization_.empty())
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
  std::filesystem::create_directories(b.home / "tmp");
  creation_ = r.body;
  auto text = show(b);
  boxes_[b.id] = std::move(b);
  reply.json(200, text);
}

void daytona_stand_in::control(const stand_request& r, stand_reply& reply) {
  if (r.path == "/api/sandbox" && r.method == "POST")
    return create(r, reply);
  if (r.path == "/api/sandbox" && r.method == "GET") {
    if (!asks_only(r, 1, {"labels", "limit", "cursor"}))
      return reply.json(400, refusal(400, "a parameter is unknown"));
    if (pages_ && !r.query.contains("cursor"))
      return reply.json(200, R"({"items":[],"nextCursor":"page/2"})");
    if (pages_ && r.query.at("cursor") != "page/2")
      return reply.json(400, refusal(400, "no such page"));
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
  if (id.ends_with("/toolbox-proxy-url") && r.method == "GET")
    return reply.json(200, "{\"url\":\"" + server_.url() + "/toolbox" + "\"}");
  if (id.ends_with("/last-activity") && r.method == "POST") {
    auto body = json::parse_object(r.body);
    if (!body || !body->empty())
      return reply.json(400, refusal(400, "an empty object"));
    ++rejoined_;
    return reply.send(201);
  }
  if (r.method == "DELETE") {
    boxes_.erase(found);
    return reply.json(200, "{}");
  }
  manage(r, reply, found->second, id.substr(std::min(id.size(), id.find('/'))));
}

/// One sandbox: shown, labelled, timed, stopped and started, its ports named.
void daytona_stand_in::manage(const stand_request& r, stand_reply& reply,
                              box& b, const std::string& what) {
  auto posted = r.method == "POST" && r.body.empty()
    && r.headers.contains("content-length");
  if (r.method == "GET" && what.starts_with("/ports/")) {
    json::object o{{"sandboxId", b.id}, {"token", "port-token"}};
    o["url"] = "https://3000-" + b.id + ".proxy.example";
    auto is_signed = what.ends_with("/signed-preview-url");
    if (is_signed ? !asks_only(r, 1, {"expiresInSeconds"})
                  : !what.ends_with("/preview-url") || !r.query.empty())
      return reply.json(400, refusal(400, "no such address"));
    return reply.json(200, json::to_text(o));
  }
  if (r.method == "PUT" && what == "/labels") {
    auto body = json::parse_object(r.body);
    if (!body || !has_only(*body, 1, {"labels"}))
      return reply.json(400, refusal(400, "labels"));
    b.labels = texts(body->if_contains("labels")); // all of them
    return reply.json(200, r.body);
  }
  auto timed
    = what.starts_with("/autostop/") || what.starts_with("/autodelete/");
  if (posted && timed) {
    if (what.find_first_not_of("0123456789", what.rfind('/') + 1) != what.npos)
      return reply.json(400, refusal(400, "no minutes"));
    b.kept_when_stopped |= what != "/autodelete/0" && what[5] == 'd';
    return reply.json(200, show(b));
  }
  if (posted && what == "/stop") {
    if (r.query.contains("force") && asks_only(r, 1, {"force"}))
      b.state = b.kept_when_stopped ? "stopped" : "destroyed";
    return reply.json(b.state.empty() ? 400 : 200, show(b));
  }
  if (posted && what == "/start") {
    if (b.state == "stopped") {
      b.state.clear();
      b.looks = 0;
    }
    return reply.json(200, show(b));
  }
  if (r.method != "GET" || !what.empty())
    return;
  ++b.looks;
  reply.json(200, show(b));
}

void daytona_stand_in::toolbox(const stand_request& r, stand_reply& reply) {
  auto rest = r.path.substr(9);
  auto found = boxes_.find(rest.substr(0, rest.find('/')));
  if (found == boxes_.end())
    return reply.json(404, refusal(404, "no such sandbox"));
  auto& b = found->second;
  auto call = rest.substr(std::min(rest.size(), rest.find('/')));
  std::string commands = "/process/session/troupe/command/";
  if (b.state == "stopped")
    return reply.json(404, refusal(404, "the sandbox is not running"));
  daytona_toolbox{b.home, b.env}.handle(call, r, reply);
  if (reply.answered())
    return;
  auto body = json::parse_object(r.body);
  if (call == "/process/session") {
    if (r.method != "POST" || !body || !has_only(*body, 1, {"sessionId"}))
      return reply.json(400, refusal(400, "sessionId"));
    if (std::exchange(b.session, true))
      return reply.json(409, refusal(409, "the session exists"));
    return reply.send(201);
  }
  if (call == "/process/session/troupe/exec")
    return run(r, reply, b);
  if (!call.starts_with(commands) || r.method != "GET" || !r.query.empty())
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

void daytona_stand_in::run(const stand_request& r, stand_reply& reply, box& b) {
  auto body = json::parse_object(r.body);
  if (!b.session || !body
      || !has_only(*body, 2, {"command", "runAsync", "suppressInputEcho"}))
    return reply.json(400, refusal(400, "no session or command"));
  auto line = daytona_toolbox{b.home, b.env}.translated(
    std::string{body->at("command").as_string()});
  auto id = "cmd-" + std::to_string(b.commands.size() + 1);
  program_run what;
  what.argv = {"/bin/sh", "-c", line};
  what.env = b.env;
  b.commands[id] = std::make_shared<background_program>(std::move(what));
  reply.json(202, "{\"cmdId\":\"" + id + "\"}");
}

} // namespace troupe::test
