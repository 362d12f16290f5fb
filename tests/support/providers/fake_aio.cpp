#include "tests/support/providers/fake_aio.hpp"

#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"
#include "tests/support/providers/aio_requests.hpp"
#include "tests/support/providers/fake_aio_files.hpp"

namespace troupe::test {

namespace fs = std::filesystem;

namespace {

std::string envelope(json::object data) {
  json::object o{{"success", true}, {"message", nullptr}};
  o["data"] = std::move(data);
  return json::to_text(o);
}

std::string failure(std::string_view why) {
  json::object o{{"success", false}, {"message", why}, {"data", nullptr}};
  return json::to_text(o);
}

json::object described(const background_program::view& seen) {
  json::object o;
  o["status"] = !seen.code ? "running"
    : *seen.code < 0       ? "killed"
                           : "completed";
  if (seen.code)
    o["exit_code"] = *seen.code;
  return o;
}

} // namespace

aio_stand_in::aio_stand_in(const tls_faces* faces)
    : tmp_{fs::temp_directory_path() / ("aio-" + make_uuid())},
      server_{[this](const stand_request& r, stand_reply& reply) {
                handle(r, reply);
              },
              faces} {
  fs::create_directories(tmp_);
}

aio_stand_in::~aio_stand_in() {
  std::lock_guard guard{mutex_};
  commands_.clear();
  std::error_code ignored; // a program that was killed may still remove some
  fs::remove_all(tmp_, ignored);
}

int aio_stand_in::directories() const {
  int n = 0;
  for (const auto& item : fs::directory_iterator{tmp_})
    n += item.is_directory();
  return n;
}

bool aio_stand_in::wait_until_sessions_are_closed() {
  std::unique_lock lock{mutex_};
  return closed_.wait_for(lock, std::chrono::seconds{10},
                          [this] { return sessions_.empty(); });
}

/// The container's /tmp is ours to move.
std::string aio_stand_in::translated(std::string text) const {
  std::string name = "/tmp/troupe-";
  auto real = tmp_.string() + "/troupe-";
  for (auto at = text.find(name); at != text.npos;
       at = text.find(name, at + real.size()))
    text.replace(at, name.size(), real);
  if (text == "ls -1 /tmp")
    text = "ls -1 " + tmp_.string();
  return text;
}

std::set<std::string> aio_stand_in::known_calls() const {
  std::lock_guard guard{mutex_};
  return known_;
}

std::vector<std::string> aio_stand_in::odd_calls() const {
  std::lock_guard guard{mutex_};
  return odd_;
}

bool aio_stand_in::is_described(const stand_request& r) {
  auto problems = aio_problems(r);
  auto call = aio_call_of(r);
  std::lock_guard guard{mutex_};
  for (const auto& problem : problems)
    odd_.push_back(call + ": " + problem);
  if (problems.empty())
    known_.insert(call);
  return problems.empty();
}

void aio_stand_in::handle(const stand_request& r, stand_reply& reply) {
  if (r.header("x-aio-api-key") != api_key
      && r.header("authorization") != std::string{"Bearer "} + jwt)
    return reply.json(401, "{\"detail\":\"unauthorized\"}");
  if (!is_described(r))
    return reply.json(422, R"({"detail":[{"msg":"missing or unknown"}]})");
  play_aio_files(r, reply, [this](std::string path) {
    return path == "/tmp" ? tmp_.string() : translated(std::move(path));
  });
  if (!reply.answered())
    play_aio_code(r, reply);
  if (reply.answered())
    return;
  if (r.path == "/v1/bash/exec")
    return execute(r, reply);
  if (r.path == "/v1/bash/output")
    return output(r, reply);
  if (r.path == "/v1/bash/kill") {
    auto body = json::parse_object(r.body);
    std::lock_guard guard{mutex_};
    auto i = commands_.find(std::string{body->at("session_id").as_string()});
    if (i == commands_.end())
      return reply.json(200, failure("no such session"));
    i->second->kill();
    return reply.json(200, envelope({}));
  }
  constexpr std::string_view sessions = "/v1/bash/sessions/";
  if (r.path.starts_with(sessions) && r.path.ends_with("/close")) {
    auto id = r.path.substr(sessions.size());
    std::lock_guard guard{mutex_};
    if (sessions_.erase(id.substr(0, id.find('/'))) == 0)
      return reply.json(200, failure("no such session"));
    closed_.notify_all();
    return reply.json(200, envelope({}));
  }
}

void aio_stand_in::execute(const stand_request& r, stand_reply& reply) {
  auto body = json::parse_object(r.body);
  program_run what;
  std::string line = translated(std::string{body->at("command").as_string()});
  if (auto* directory = body->if_contains("exec_dir"))
    line
      = "cd " + translated(std::string{directory->as_string()}) + " && " + line;
  what.argv = {"/bin/bash", "-c", line};
  if (auto* env = body->if_contains("env"))
    for (const auto& [name, value] : env->as_object())
      what.env[std::string{name}] = std::string{value.as_string()};
  auto* async = body->if_contains("async_mode");
  json::object data;
  auto id = make_uuid();
  {
    std::lock_guard guard{mutex_};
    sessions_.insert(id);
  }
  if (async && async->as_bool()) {
    auto program = std::make_shared<background_program>(std::move(what));
    data = described(program->look());
    data["command_id"] = "c1";
    std::lock_guard guard{mutex_};
    commands_[id] = std::move(program);
  } else {
    std::string out;
    what.sink = [&](bool is_err, std::string_view bytes) {
      if (!is_err)
        out += bytes;
    };
    background_program::view seen;
    seen.code = run_program(what);
    data = described(seen);
    data["stdout"] = out;
  }
  data["session_id"] = id;
  reply.json(200, envelope(std::move(data)));
}

void aio_stand_in::output(const stand_request& r, stand_reply& reply) {
  auto body = json::parse_object(r.body);
  std::shared_ptr<background_program> program;
  {
    std::lock_guard guard{mutex_};
    auto i = commands_.find(std::string{body->at("session_id").as_string()});
    if (i == commands_.end())
      return reply.json(200, failure("no such session"));
    program = i->second;
  }
  auto offset = [&](std::string_view name) {
    auto* n = body->if_contains(name);
    return n ? static_cast<std::size_t>(n->as_int64()) : 0;
  };
  auto from = offset("offset");
  auto err_from = offset("stderr_offset");
  // A long poll: answers when there is something new.
  auto seen = program->wait_for_more(from, err_from);
  json::object data;
  data["stdout"] = json::repair_utf8(std::string_view{seen.out}.substr(from));
  data["stderr"]
    = json::repair_utf8(std::string_view{seen.err}.substr(err_from));
  data["offset"] = seen.out.size();
  data["stderr_offset"] = seen.err.size();
  data["command"] = described(seen);
  reply.json(200, envelope(std::move(data)));
}

} // namespace troupe::test
