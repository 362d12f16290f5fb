#include "tests/support/e2b_stand_in.hpp"

#include "net/providers/connect_stream.hpp"
#include "runtime/frame/base64.hpp"
#include "runtime/json/json.hpp"

#include <signal.h>

#include <fstream>

namespace troupe::test {

namespace {

const std::string token = "at-1";

std::string refusal(int code, std::string_view why) {
  json::object o{{"code", code}, {"message", why}};
  return json::to_text(o);
}

/// As their proxy says it, in the place of a sandbox.
std::string gone(const std::string& id) {
  json::object o{
    {"sandboxId", id}, {"code", 502}, {"message", "the sandbox was not found"}};
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

/// A notebook's cell of JavaScript: over when its text is through, whatever a
/// promise of it that nobody waits for still has to do.
std::string cell_of(std::string_view code) {
  return "(async () => {\n" + std::string{code}
  + "\n})().then(() => process.exit(), "
    "(e) => { console.error(e); process.exit(1); });\n";
}

/// The members NewSandbox knows; the real one refuses others.
bool known_member(std::string_view name) {
  for (auto known : {"templateID", "timeout", "metadata", "envVars", "secure",
                     "allow_internet_access", "network", "autoPause"})
    if (name == known)
      return true;
  return false;
}

std::string envelope_end(std::string_view json) {
  auto bytes = net::connect_envelope(json);
  bytes[0] = 2;
  return bytes;
}

} // namespace

e2b_stand_in::e2b_stand_in()
    : server_{[this](const stand_request& r, stand_reply& reply) {
        handle(r, reply);
      }} {}

void e2b_stand_in::speak_as(std::string envd_version) {
  std::lock_guard guard{mutex_};
  envd_ = std::move(envd_version);
}

std::string e2b_stand_in::described(const std::string& id) const {
  json::object o{{"sandboxID", id},
                 {"templateID", "t"},
                 {"clientID", "c"},
                 {"envdVersion", envd_},
                 {"envdAccessToken", token}};
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

int e2b_stand_in::carry_out(program_run program) {
  auto child = -1;
  program.begun = [&](int pid) {
    child = pid;
    std::lock_guard guard{mutex_};
    running_.insert(pid);
  };
  auto code = run_program(program);
  std::lock_guard guard{mutex_};
  running_.erase(child);
  return code;
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
    if (r.path.starts_with("/v2/sandboxes/") && r.path.ends_with("/connect")
        && r.method == "POST")
      return connect(r, reply);
    if (r.method == "DELETE" && r.path.starts_with("/sandboxes/")) {
      std::lock_guard guard{mutex_};
      auto gone = boxes_.erase(r.path.substr(11)) > 0;
      destroyed_ += gone;
      changed_.notify_all();
      return gone ? reply.send(204) : reply.json(404, refusal(404, "no box"));
    }
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
  if (r.header("x-access-token") != token)
    return reply.json(401, refusal(401, "no access token"));
  auto port = r.header("e2b-sandbox-port");
  if (port == "49983" && is_before("0.4.0")
      && r.header("authorization") != "Basic dXNlcjo=")
    return reply.json(401, refusal(401, "no user specified"));
  if (port == "49983" && r.path == "/health" && r.method == "GET")
    return reply.send(204);
  if (port == "49983" && r.path == "/files" && r.method == "POST")
    return take_file(r, reply);
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
  auto* timeout = body->if_contains("timeout");
  if (!body->contains("templateID") || !timeout || !timeout->is_int64()
      || timeout->as_int64() <= 0 || timeout->as_int64() > 86'400)
    return reply.json(400, refusal(400, "templateID or timeout"));
  std::lock_guard guard{mutex_};
  auto id = "ibox" + std::to_string(next_++);
  boxes_[id] = {texts(body->if_contains("metadata")),
                texts(body->if_contains("envVars")), r.body};
  reply.json(201, described(id));
}

void e2b_stand_in::connect(const stand_request& r, stand_reply& reply) {
  auto body = json::parse_object(r.body);
  auto* timeout = body ? body->if_contains("timeout") : nullptr;
  if (!timeout || !timeout->is_int64() || timeout->as_int64() <= 0
      || timeout->as_int64() > 86'400)
    return reply.json(400, refusal(400, "timeout"));
  auto id = r.path.substr(14, r.path.size() - 14 - 8);
  std::lock_guard guard{mutex_};
  if (!boxes_.contains(id))
    return reply.json(404, refusal(404, "no box"));
  ++rejoined_;
  reply.json(200, described(id));
}

/// One part `file` of a form; `path` says where it goes.
void e2b_stand_in::take_file(const stand_request& r, stand_reply& reply) {
  if (is_before("0.4.0") && !r.query.contains("username"))
    return reply.json(401, refusal(401, "no user specified"));
  auto type = r.header("content-type");
  auto begin = r.body.find("name=\"file\"");
  auto mark = type.find("boundary=");
  if (!type.starts_with("multipart/form-data") || mark == type.npos
      || begin == r.body.npos || !r.query.contains("path"))
    return reply.json(400, refusal(400, "no form with a file"));
  begin = r.body.find("\r\n\r\n", begin) + 4;
  auto end = r.body.find("\r\n--" + type.substr(mark + 9) + "--", begin);
  std::ofstream{r.query.at("path")} << r.body.substr(begin, end - begin);
  reply.json(200, "[]");
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

void e2b_stand_in::start(const stand_request& r, stand_reply& reply,
                         const box& b) {
  if (r.header("content-type") != "application/connect+json"
      || r.header("connect-protocol-version") != "1")
    return reply.json(415, refusal(415, "not a Connect stream"));
  auto timeout = r.header("connect-timeout-ms");
  if (timeout == "0" || timeout.size() > 10)
    return reply.json(400, refusal(400, "a timeout that has passed"));
  json::object body;
  net::connect_reader reader{[&](std::string_view text) -> result<void> {
    auto parsed = json::parse_object(text);
    if (!parsed)
      return parsed.error();
    body = std::move(*parsed);
    return {};
  }};
  if (!reader.feed(r.body) || !body.contains("process"))
    return reply.json(400, refusal(400, "no envelope"));
  const auto& process = body["process"].as_object();
  std::vector<std::string> argv{std::string{process.at("cmd").as_string()}};
  for (const auto& a : process.at("args").as_array())
    argv.emplace_back(a.as_string());
  auto env = b.env;
  for (auto& [name, value] : texts(process.if_contains("envs")))
    env[name] = value;
  env.try_emplace("HOME", "/nonexistent"); // whose profile says nothing
  reply.begin(200, "application/connect+json");
  reply.piece(net::connect_envelope(R"({"event":{"start":{"pid":7}}})"));
  std::string given;
  if (body["stdin"].is_bool() && body["stdin"].as_bool()) {
    std::unique_lock lock{mutex_};
    // The input comes on another connection.
    waits_for_input_ = true;
    auto heard = changed_.wait_for(lock, std::chrono::seconds{20}, [this] {
      return inputs_.contains(7) || killed_;
    });
    waits_for_input_ = false;
    if (!heard)
      return reply.cut_off();
    if (std::exchange(killed_, false))
      return end(reply, -SIGKILL);
    given = inputs_.extract(7).mapped();
  }
  program_run program{argv, env, given, {}, reply.socket()};
  program.sink = [&](bool is_err, std::string_view bytes) {
    json::object data;
    data[is_err ? "stderr" : "stdout"] = frame::to_base64(bytes);
    json::object event;
    event["data"] = std::move(data);
    json::object message;
    message["event"] = std::move(event);
    // In two pieces: an envelope may be split anywhere.
    auto text = net::connect_envelope(json::to_text(message));
    reply.piece(text.substr(0, 3));
    reply.piece(text.substr(3));
  };
  end(reply, carry_out(program));
}

void e2b_stand_in::end(stand_reply& reply, int code) {
  json::object end;
  if (code > 0)
    end["exitCode"] = code;
  if (code >= 0)
    end["exited"] = true;
  end["status"] = code >= 0 ? "exit status" : "signal: killed";
  json::object event;
  event["end"] = std::move(end);
  json::object message;
  message["event"] = std::move(event);
  reply.piece(net::connect_envelope(json::to_text(message)));
  reply.piece(envelope_end("{}"));
  reply.end();
}

void e2b_stand_in::input(const stand_request& r, stand_reply& reply) {
  if (r.header("content-type") != "application/json")
    return reply.json(415, refusal(415, "not a unary call"));
  auto body = json::parse_object(r.body);
  if (!body)
    return reply.json(400, refusal(400, "no JSON"));
  if (r.path.ends_with("CloseStdin") && is_before("0.5.2"))
    return reply.json(404, refusal(404, "no such method"));
  std::lock_guard guard{mutex_};
  if (r.path.ends_with("SendSignal")) {
    if (!body->contains("signal") || body->at("signal") != "SIGNAL_SIGKILL")
      return reply.json(400, refusal(400, "no such signal"));
    killed_ = waits_for_input_;
    for (auto pid : running_)
      ::kill(-pid, SIGKILL);
  } else if (auto* given = body->if_contains("input")) {
    auto bytes = frame::from_base64(given->as_object().at("stdin").as_string());
    inputs_[7] = bytes ? *bytes : "";
  } else if (waits_for_input_) {
    inputs_.try_emplace(7); // it reads to the end of nothing
  }
  changed_.notify_all();
  reply.json(200, "{}");
}

void e2b_stand_in::execute(const stand_request& r, stand_reply& reply,
                           const box& b) {
  auto body = json::parse_object(r.body);
  if (!body || !body->contains("code"))
    return reply.send(400, "code is missing");
  auto* language = body->if_contains("language");
  auto js = language && language->as_string() == "js";
  std::string code{body->at("code").as_string()};
  if (js)
    code = cell_of(code);
  reply.begin(200, "application/json");
  auto line = [&](const json::object& o) {
    return reply.piece(json::to_text(o) + "\n");
  };
  line({{"type", "number_of_executions"}, {"execution_count", 1}});
  line({{"type", "keepalive"}});
  program_run program{
    {js ? "node" : "python3", "-"}, b.env, code, {}, reply.socket()};
  program.sink = [&](bool err, std::string_view bytes) {
    line({{"type", err ? "stderr" : "stdout"},
          {"text", json::repair_utf8(bytes)},
          {"timestamp", 1}});
  };
  auto status = carry_out(program);
  if (status != 0)
    line({{"type", "error"},
          {"name", "Exit"},
          {"value", std::to_string(status)},
          {"traceback", ""}});
  if (boxes().size() == 0)
    return reply.cut_off(); // lost in the meantime
  line({{"type", "end_of_execution"}});
  reply.end();
}

} // namespace troupe::test
