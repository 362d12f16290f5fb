// What runs in a sandbox: processes by its envd, code by its interpreter.
#include "net/providers/connect_stream.hpp"
#include "runtime/base/base64.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/fake_e2b_names.hpp"
#include "tests/support/providers/fake_files.hpp"

#include <signal.h>

namespace troupe::test {

namespace {

/// A notebook's cell of JavaScript: over when its text is through, whatever a
/// promise of it that nobody waits for still has to do.
std::string cell_of(std::string_view code) {
  return "(async () => {\n" + std::string{code}
  + "\n})().then(() => process.exit(), "
    "(e) => { console.error(e); process.exit(1); });\n";
}

/// A cell of Python: carried out inside of the event loop that its kernel is
/// busy with.
std::string kernel_cell(std::string_view code) {
  std::string quoted;
  json::append_string(quoted, code);
  return "import asyncio\nasync def _cell():\n    exec(compile(" + quoted
    + ", '<cell>', 'exec'), globals())\nasyncio.run(_cell())\n";
}

/// What the interpreter puts in front of a context's first cell: the sandbox's
/// variables as statements, pasted as they are. Its own are always among them.
std::string pasted(std::map<std::string, std::string> env, bool js) {
  env.emplace("E2B_SANDBOX", "true");
  std::string out;
  for (const auto& [name, value] : env)
    out += (js ? "process.env['" : "import os; os.environ['") + name + "'] = '"
      + value + "'\n";
  return out + "\n";
}

std::string envelope_end(std::string_view json) {
  auto bytes = net::connect_envelope(json);
  bytes[0] = 2;
  return bytes;
}

} // namespace

int e2b_stand_in::carry_out(program_run program) {
  auto child = -1;
  program.begun = [&, then = program.begun](int pid) {
    child = pid;
    {
      std::lock_guard guard{mutex_};
      running_.insert(pid);
    }
    if (then)
      then(pid);
  };
  auto code = run_program(program);
  std::lock_guard guard{mutex_};
  running_.erase(child);
  lines_.erase(child);
  return code;
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
  auto begin = [&](int pid) {
    reply.begin(200, "application/connect+json");
    reply.piece(net::connect_envelope(R"({"event":{"start":{"pid":)"
                                      + std::to_string(pid) + "}}}"));
  };
  std::string given;
  auto waits = body["stdin"].is_bool() && body["stdin"].as_bool();
  if (waits) {
    begin(7);
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
  if (!waits) // then it is there when its stream begins
    program.begun = [&](int pid) {
      {
        std::lock_guard guard{mutex_};
        lines_[pid] = process;
      }
      begin(pid);
    };
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
  if (r.header("content-type") != "application/json"
      || r.header("connect-protocol-version") != "1")
    return reply.json(415, refusal(415, "not a unary call"));
  auto body = json::parse_object(r.body);
  if (!body)
    return reply.json(400, refusal(400, "no JSON"));
  if (r.path.ends_with("CloseStdin") && is_before("0.5.2"))
    return reply.json(404, refusal(404, "no such method"));
  std::lock_guard guard{mutex_};
  if (r.path.ends_with("/List")) {
    json::array all;
    for (const auto& [pid, line] : lines_)
      all.push_back(json::object{{"pid", pid}, {"config", line}});
    return reply.json(200, json::to_text(json::object{{"processes", all}}));
  }
  auto* process = body->if_contains("process");
  auto* pid = process && process->is_object()
    ? process->as_object().if_contains("pid")
    : nullptr;
  if (!pid || !pid->is_int64())
    return reply.json(400, refusal(400, "no process"));
  if (r.path.ends_with("SendSignal")) {
    auto* wanted = body->if_contains("signal");
    auto kill = wanted && *wanted == "SIGNAL_SIGKILL";
    if (!kill && (!wanted || *wanted != "SIGNAL_SIGTERM"))
      return reply.json(400, refusal(400, "no such signal"));
    auto id = static_cast<int>(pid->as_int64());
    killed_ = waits_for_input_ && id == 7;
    if (!killed_ && id != 7 && !running_.contains(id))
      return reply.json(404, R"({"code":"not_found","message":"no such one"})");
    for (auto each : running_)
      if (id == 7 || each == id)
        ::kill(-each, kill ? SIGKILL : SIGTERM);
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
  if (!body || !has_only(*body, 1, {"code", "context_id", "language"}))
    return reply.send(400, "code is missing, or a member unknown");
  auto* language = body->if_contains("language");
  auto* context = body->if_contains("context_id");
  if (language && context)
    return reply.send(400, "only one of context_id and language");
  auto js = language && language->as_string() == "js";
  std::string code{body->at("code").as_string()};
  if (context) {
    auto whole = contexts_.program(std::string{context->as_string()},
                                   pasted(b.env, false), code);
    if (!whole)
      return reply.send(404, "Context not found");
    code = std::move(*whole);
  } else { // nothing stays in ours: each cell is its first
    code = pasted(b.env, js) + code;
  }
  code = js ? cell_of(code) : kernel_cell(code);
  reply.begin(200, "application/json");
  auto line = [&](const json::object& o) {
    return reply.piece(json::to_text(o) + "\n");
  };
  line({{"type", "number_of_executions"}, {"execution_count", 1}});
  line({{"type", "keepalive"}});
  program_run program{
    {js ? "node" : "python3", "-"}, {}, code, {}, reply.socket()};
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
