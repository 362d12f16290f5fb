#include "tests/support/providers/fake_e2b.hpp"

#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_e2b_files.hpp"
#include "tests/support/providers/fake_e2b_names.hpp"
#include "tests/support/providers/fake_files.hpp"

#include <signal.h>

namespace troupe::test {

namespace {

const std::string token = "at-1";
const std::string next_page = "page/2";   // which has to be encoded
const std::string traffic_token = "tt-1"; // of the ports of a closed one

/// As their proxy says it, in the place of a sandbox.
std::string gone(const std::string& id) {
  json::object o{
    {"sandboxId", id}, {"code", 502}, {"message", "the sandbox was not found"}};
  return json::to_text(o);
}

/// The members NewSandbox knows; the real one refuses others.
bool known_member(std::string_view name) {
  for (auto known : {"templateID", "timeout", "metadata", "envVars", "secure",
                     "allow_internet_access", "network", "autoPause"})
    if (name == known)
      return true;
  return false;
}

} // namespace

e2b_stand_in::e2b_stand_in(const tls_faces* faces)
    : server_{
      [this](const stand_request& r, stand_reply& reply) { handle(r, reply); },
      faces} {}

void e2b_stand_in::speak_as(std::string envd_version) {
  std::lock_guard guard{mutex_};
  envd_ = std::move(envd_version);
}

void e2b_stand_in::list_in_pages() {
  std::lock_guard guard{mutex_};
  pages_ = true;
}

std::string e2b_stand_in::described(const std::string& id, const box& b) const {
  json::object o{{"sandboxID", id},
                 {"templateID", "t"},
                 {"clientID", "c"},
                 {"envdVersion", envd_},
                 {"envdAccessToken", token}};
  if (b.closed)
    o["trafficAccessToken"] = traffic_token;
  return json::to_text(o);
}

std::string e2b_stand_in::shown(const std::string& id, const box& b) const {
  auto o = json::parse_object(described(id, b)).value();
  o["state"] = b.paused ? "paused" : "running";
  o["startedAt"] = "2026-01-01T00:00:00Z";
  o["endAt"] = "2026-01-01T00:00:00Z";
  o["cpuCount"] = 2;
  o["memoryMB"] = 512;
  o["diskSizeMB"] = 512;
  return json::to_text(o);
}

std::map<std::string, e2b_stand_in::box> e2b_stand_in::boxes() const {
  std::lock_guard guard{mutex_};
  return boxes_;
}

int e2b_stand_in::created() const {
  std::lock_guard guard{mutex_};
  return next_ - 1;
}

int e2b_stand_in::destroyed() const {
  std::lock_guard guard{mutex_};
  return destroyed_;
}

int e2b_stand_in::rejoined() const {
  std::lock_guard guard{mutex_};
  return rejoined_;
}

void e2b_stand_in::end_everything() {
  std::lock_guard guard{mutex_};
  destroyed_ += static_cast<int>(boxes_.size());
  boxes_.clear();
  for (auto pid : running_)
    ::kill(-pid, SIGKILL);
}

std::string e2b_stand_in::leave_one_behind() {
  std::lock_guard guard{mutex_};
  auto id = "ibox" + std::to_string(next_++);
  boxes_[id].labels = {{"troupe", "1"}, {"troupe_lease", "tag-of-" + id}};
  return "tag-of-" + id;
}

void e2b_stand_in::wait_until_empty() {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, std::chrono::seconds{30},
                    [this] { return boxes_.empty(); });
}

void e2b_stand_in::handle(const stand_request& r, stand_reply& reply) {
  auto id = r.header("e2b-sandbox-id");
  if (id.empty()) { // the control plane
    if (r.header("x-api-key") != api_key)
      return reply.json(401, refusal(401, "unauthorized"));
    auto all = r.path == "/v2/sandboxes" || r.path == "/sandboxes";
    if (all && r.method == "POST")
      return create(r, reply);
    if (all && r.method == "GET")
      return list(r, reply);
    if (r.path.ends_with("/connect") && r.method == "POST")
      return connect(r, reply);
    if (r.path.starts_with("/sandboxes/"))
      return manage(r, reply);
    return;
  }
  box b;
  {
    std::lock_guard guard{mutex_};
    auto i = boxes_.find(id);
    if (i == boxes_.end())
      return reply.json(502, gone(id));
    b = i->second;
  }
  if (b.paused)
    return reply.json(502, gone(id));
  auto port = r.header("e2b-sandbox-port");
  if (b.closed && port != "49983"
      && r.header("e2b-traffic-access-token") != traffic_token)
    return reply.json(403, refusal(403, "no token for its traffic"));
  if (port == "49999" && r.path.starts_with("/contexts"))
    return contexts_.handle(r, reply);
  if (r.header("x-access-token") != token)
    return reply.json(401, refusal(401, "no access token"));
  auto acts = r.path.starts_with("/filesystem.Filesystem/")
    || r.path == "/process.Process/Start";
  if (port == "49983" && acts && is_before("0.4.0")
      && r.header("authorization") != "Basic dXNlcjo=")
    return reply.json(401, refusal(401, "no user specified"));
  if (port == "49983" && r.path == "/health" && r.method == "GET")
    return reply.send(204);
  if (port == "49983"
      && (r.path == "/files" || r.path.starts_with("/filesystem.Filesystem/")))
    return play_envd_files(r, reply, is_before("0.4.0"));
  if (port == "49983" && r.path == "/process.Process/Start")
    return start(r, reply, b);
  if (port == "49983" && r.path.starts_with("/process.Process/"))
    return input(r, reply);
  if (port == "49999" && r.path == "/execute")
    return execute(r, reply, b);
}

void e2b_stand_in::create(const stand_request& r, stand_reply& reply) {
  auto body = json::parse_object(r.body);
  if (!body)
    return reply.json(400, refusal(400, "no JSON object"));
  for (const auto& [name, value] : *body)
    if (!known_member(name))
      return reply.json(400, refusal(400, std::string{name} + " is unknown"));
  if (body->contains("secure") != (r.path == "/sandboxes"))
    return reply.json(400, refusal(400, "secure is the older path's"));
  auto* timeout = body->if_contains("timeout");
  if (!body->contains("templateID") || !timeout || !timeout->is_int64()
      || timeout->as_int64() <= 0 || timeout->as_int64() > 86'400)
    return reply.json(400, refusal(400, "templateID or timeout"));
  std::lock_guard guard{mutex_};
  auto id = "ibox" + std::to_string(next_++);
  auto& b = boxes_[id];
  b.labels = texts(body->if_contains("metadata"));
  b.env = texts(body->if_contains("envVars"));
  b.creation = r.body;
  if (auto* network = body->if_contains("network"))
    if (auto* open = network->as_object().if_contains("allowPublicTraffic"))
      b.closed = !open->as_bool();
  reply.json(201, described(id, b));
}

/// One sandbox: shown, given time, paused, ended.
void e2b_stand_in::manage(const stand_request& r, stand_reply& reply) {
  auto id = r.path.substr(11);
  auto what = id.substr(std::min(id.size(), id.find('/')));
  id.resize(id.size() - what.size());
  auto body = json::parse_object(r.body);
  std::lock_guard guard{mutex_};
  auto found = boxes_.find(id);
  if (found == boxes_.end())
    return reply.json(404, refusal(404, "no box"));
  auto& b = found->second;
  if (r.method == "DELETE" && what.empty()) {
    boxes_.erase(found);
    ++destroyed_;
    changed_.notify_all();
    return reply.send(204);
  }
  if (r.method == "GET" && what.empty())
    return reply.json(200, shown(id, b));
  if (r.method != "POST" || !body)
    return reply.json(400, refusal(400, "no JSON object"));
  if (what == "/timeout") {
    auto* left = body->if_contains("timeout");
    if (body->size() != 1 || !left || !left->is_int64() || left->as_int64() < 0)
      return reply.json(400, refusal(400, "timeout"));
    if (b.paused)
      return reply.json(409, refusal(409, "it is paused"));
    return reply.send(204);
  }
  if (what != "/pause" || !has_only(*body, 0, {"memory"}))
    return reply.json(400, refusal(400, "a member is unknown"));
  if (std::exchange(b.paused, true))
    return reply.json(409, refusal(409, "it is paused already"));
  reply.send(204);
}

void e2b_stand_in::connect(const stand_request& r, stand_reply& reply) {
  auto body = json::parse_object(r.body);
  auto* timeout = body ? body->if_contains("timeout") : nullptr;
  if (!timeout || !timeout->is_int64() || timeout->as_int64() <= 0
      || timeout->as_int64() > 86'400)
    return reply.json(400, refusal(400, "timeout"));
  auto folder = r.path.substr(0, r.path.rfind('/'));
  auto id = folder.substr(folder.rfind('/') + 1);
  std::lock_guard guard{mutex_};
  if (!boxes_.contains(id))
    return reply.json(404, refusal(404, "no box"));
  ++rejoined_;
  auto resumed = std::exchange(boxes_[id].paused, false);
  reply.json(resumed ? 201 : 200, described(id, boxes_[id]));
}

void e2b_stand_in::list(const stand_request& r, stand_reply& reply) {
  // Their server splits at a comma before it decodes.
  auto newer = r.path == "/v2/sandboxes";
  if (!newer && (r.query.size() != 1 || !r.query.contains("metadata")))
    return reply.json(400, refusal(400, "the older list has one parameter"));
  if (r.query.contains("state")
      && r.target.find("state=running,paused") == r.target.npos)
    return reply.json(400, refusal(400, "state"));
  // The reverse of the client's three encodings; the frame undid the first.
  auto filter = r.query.find("metadata");
  std::string key, value;
  if (filter != r.query.end()) {
    auto equal = filter->second.find('=');
    key = percent_decode(percent_decode(filter->second.substr(0, equal)));
    value = percent_decode(percent_decode(filter->second.substr(equal + 1)));
  }
  json::array out;
  std::lock_guard guard{mutex_};
  auto token = r.query.find("nextToken");
  if (token == r.query.end() ? newer && pages_ : token->second != next_page)
    return reply.send(token == r.query.end() ? 200 : 400, "[]",
                      {{"X-Next-Token", next_page}});
  for (const auto& [id, b] : boxes_) {
    auto label = b.labels.find(key);
    if (label == b.labels.end() || label->second != value)
      continue;
    json::object labels;
    for (const auto& [k, v] : b.labels)
      labels[k] = v;
    json::object item{{"sandboxID", id}, {"state", "running"}};
    item["metadata"] = std::move(labels);
    out.push_back(std::move(item));
  }
  reply.json(200, json::to_text(out));
}

} // namespace troupe::test
