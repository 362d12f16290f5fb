// process.Process: programs in a sandbox.
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/inside_program.hpp"
#include "net/compat/e2b/process_stream.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/compat/e2b/wire/paths.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <csignal>

namespace troupe::net::e2b_facade {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t largest_call = (4u << 20) + 4'096;
constexpr milliseconds after_kill{100}; // for the process to be gone
constexpr milliseconds next_write{20};  // while it does not read
constexpr milliseconds longest_write{60'000};
constexpr std::chrono::seconds kept_end{30}; // for those that connect late

constexpr std::int64_t largest_terminal = 1'000; // columns or rows

// -- beginning ----------------------------------------------------------------

/// {"pty":{"size":{"cols":80,"rows":24}}}
result<terminal_size> size_of(const json::object& pty) {
  terminal_size out;
  message_reader message{pty};
  const auto* said = message.object("size");
  if (!said)
    return out;
  message_reader size{*said};
  const auto columns = size.integer("cols").value_or(out.columns);
  const auto rows = size.integer("rows").value_or(out.rows);
  if (size.bad() || columns < 1 || rows < 1 || columns > largest_terminal
      || rows > largest_terminal)
    return bad_request("pty.size has cols and rows from 1 to 1000");
  out.columns = static_cast<std::uint16_t>(columns);
  out.rows = static_cast<std::uint16_t>(rows);
  return out;
}

result<process_spec> spec_of(message_reader& message, const visit& in) {
  const auto* process = message.object("process");
  if (!process)
    return bad_request("process is missing");
  message_reader part{*process};
  json::array argv;
  argv.emplace_back(part.text("cmd"));
  if (const auto* args = part.array("args"))
    argv.insert(argv.end(), args->begin(), args->end());
  json::object env{{"E2B_SANDBOX_ID", in.id.str()}, {"LOGNAME", user_name}};
  if (const auto* said = part.object("envs"))
    for (const auto& [name, value] : *said)
      env[name] = value;
  auto cwd = absolute_path(part.text("cwd"));
  if (!cwd)
    return cwd.error();
  json::object spec{{"argv", std::move(argv)}, {"env", std::move(env)}};
  spec["cwd"] = *cwd;
  const auto* pty = message.object("pty");
  auto size = pty ? size_of(*pty) : result<terminal_size>{terminal_size{}};
  if (!size)
    return size.error();
  spec["open_stdin"] = !pty && message.boolean("stdin").value_or(true);
  if (auto tag = message.text("tag"); !tag.empty())
    spec["tag"] = std::move(tag);
  for (const auto* each : {&message, &part})
    if (each->bad())
      return bad_request(each->bad()->message);
  auto parsed = parse_process_spec(spec);
  if (parsed && pty)
    parsed->terminal = *size;
  return parsed;
}

rpc_error why_not_begun(const sandbox_error& why, const std::string& cwd) {
  for (const auto& each : why.fields)
    if (each.pointer == "/cwd")
      return {rpc_code::invalid_argument, "cwd '" + cwd + "' does not exist"};
  return rpc_error_of(why);
}

void start(facade& shared, const exchange_ptr& ex, const visit& in) {
  const auto body = message_of(*ex, rpc_kind::stream);
  if (!body)
    return;
  if (const auto why = why_no_user(user_of(ex->in())))
    return fail_stream(*ex, {rpc_code::unauthenticated, *why});
  message_reader message{*body};
  auto spec = spec_of(message, in);
  if (!spec)
    return fail_stream(*ex,
                       {rpc_code::invalid_argument, message_of(spec.error())});
  if (const auto time = time_of_call(ex->in()))
    spec->timeout = *time;
  const auto cwd = spec->cwd;
  shared.sandboxes()->start(
    in.who, in.id, std::move(*spec),
    [ex, cwd, id = in.id](sandbox_result<sandbox_program_ptr> begun) {
      if (begun)
        return std::make_shared<process_stream>(ex, *begun, output_offsets{})
          ->start();
      if (is_about_sandbox(begun.error()))
        return refuse_gone(*ex, id.str());
      fail_stream(*ex, why_not_begun(begun.error(), cwd));
    });
}

// -- those that are there -----------------------------------------------------

/// Which process a call means, by its pid or its tag.
struct selector {
  std::int64_t pid = 0;
  std::string tag;
};

result<selector> selector_of(message_reader& message) {
  const auto* process = message.object("process");
  if (!process)
    return bad_request("process is missing");
  message_reader part{*process};
  selector out;
  out.pid = part.integer("pid").value_or(0);
  out.tag = part.text("tag");
  if (part.bad())
    return bad_request(part.bad()->message);
  if (out.pid == 0 && out.tag.empty())
    return bad_request("process names neither pid nor tag");
  return out;
}

bool is_shown(const process_record& r) {
  return r.tag != own_tag;
}

/// Ended, but not so long ago that a client who connects late is told nothing.
bool is_kept(const process_record& r) {
  return r.ended_at
    && std::chrono::system_clock::now() - *r.ended_at < kept_end;
}

sandbox_program_ptr find_in(const std::vector<sandbox_program_ptr>& all,
                            const selector& wanted, bool ended_ones) {
  sandbox_program_ptr kept;
  for (const auto& each : all) {
    const auto r = each->record();
    const bool meant
      = wanted.pid != 0 ? r.pid == wanted.pid : r.tag == wanted.tag;
    if (!meant || !is_shown(r))
      continue;
    if (!r.ended())
      return each;
    if (ended_ones && is_kept(r))
      kept = each;
  }
  return kept;
}

std::string name_of(const selector& wanted) {
  return wanted.pid != 0 ? "process with pid " + std::to_string(wanted.pid)
                         : "process with tag " + wanted.tag;
}

using found_program
  = std::function<void(const exchange_ptr&, sandbox_program_ptr)>;

/// Answers calls for which there is no such process.
void with_process(facade& shared, const exchange_ptr& ex, const visit& in,
                  const selector& wanted, rpc_kind kind, found_program then) {
  const auto fail = kind == rpc_kind::unary ? &fail_rpc : &fail_stream;
  shared.sandboxes()->list_processes(
    in.who, in.id,
    [ex, wanted, kind, fail, id = in.id, then = std::move(then)](
      sandbox_result<std::vector<sandbox_program_ptr>> all) {
      if (!all && is_about_sandbox(all.error()))
        return refuse_gone(*ex, id.str());
      if (!all)
        return fail(*ex, rpc_error_of(all.error()));
      auto found = find_in(*all, wanted, kind == rpc_kind::stream);
      if (found)
        return then(ex, std::move(found));
      fail(*ex, {rpc_code::not_found, name_of(wanted) + " not found"});
    });
}

void connect(facade& shared, const exchange_ptr& ex, const visit& in) {
  const auto body = message_of(*ex, rpc_kind::stream);
  if (!body)
    return;
  message_reader message{*body};
  auto wanted = selector_of(message);
  if (!wanted)
    return fail_stream(
      *ex, {rpc_code::invalid_argument, message_of(wanted.error())});
  auto follow = [](const exchange_ptr& ex, const sandbox_program_ptr& found) {
    const auto now = found->record();
    // What it has said before is not told again.
    const output_offsets from{now.stdout_bytes, now.stderr_bytes};
    auto stream = std::make_shared<process_stream>(ex, found, from);
    if (const auto time = time_of_call(ex->in()))
      stream->bound(*time);
    stream->start();
  };
  with_process(shared, ex, in, *wanted, rpc_kind::stream, follow);
}

/// A unary call about one process.
template <class Work>
visit_work about_process(Work work) {
  return [work](facade& shared, const exchange_ptr& ex, const visit& in) {
    auto body = message_of(*ex, rpc_kind::unary);
    if (!body)
      return;
    message_reader message{*body};
    auto wanted = selector_of(message);
    if (!wanted)
      return fail_rpc(*ex,
                      {rpc_code::invalid_argument, message_of(wanted.error())});
    with_process(shared, ex, in, *wanted, rpc_kind::unary,
                 [work, body = std::move(*body)](
                   const exchange_ptr& ex, const sandbox_program_ptr& found) {
                   work(ex, found, body);
                 });
  };
}

sandbox_handler<void> done_or_fail(exchange_ptr ex) {
  return [ex = std::move(ex)](const sandbox_result<void>& done) {
    if (done)
      answer_rpc(*ex, "{}");
    else
      fail_rpc(*ex, rpc_error_of(done.error()));
  };
}

/// A pipe that is full takes the bytes when the process has read some.
void write_input(const exchange_ptr& ex, const sandbox_program_ptr& to,
                 const std::string& bytes, milliseconds left) {
  to->write(bytes, [ex, to, bytes, left](const sandbox_result<void>& done) {
    if (done)
      return answer_rpc(*ex, "{}");
    const auto& why = done.error();
    if (why.code == ec::exhausted && left > next_write && !to->record().ended())
      return ex->after(next_write, [ex, to, bytes, left] {
        write_input(ex, to, bytes, left - next_write);
      });
    fail_rpc(
      *ex, {rpc_code::internal, "error writing to stdin: " + message_of(why)});
  });
}

void send_input(const exchange_ptr& ex, const sandbox_program_ptr& to,
                const json::object& body) {
  message_reader message{body};
  const auto* input = message.object("input");
  message_reader part{input ? *input : body};
  const bool at_terminal = to->record().terminal.has_value();
  if (input && part.find(at_terminal ? "stdin" : "pty"))
    return fail_rpc(*ex,
                    {rpc_code::internal,
                     at_terminal ? "the process has a terminal (pty)"
                                 : "the process has no terminal (pty)"});
  auto bytes = input ? part.bytes(at_terminal ? "pty" : "stdin") : std::nullopt;
  if (part.bad())
    return fail_rpc(*ex, *part.bad());
  if (!bytes)
    return fail_rpc(
      *ex, {rpc_code::unimplemented, "input names neither stdin nor pty"});
  if (bytes->empty())
    return answer_rpc(*ex, "{}");
  write_input(ex, to, *bytes, longest_write);
}

void close_input(const exchange_ptr& ex, const sandbox_program_ptr& to,
                 const json::object&) {
  if (to->record().terminal)
    return fail_rpc(
      *ex, {rpc_code::unknown, "a terminal (pty) is closed by the byte 4"});
  to->close_input([ex](const sandbox_result<void>& done) {
    // Closed before is closed.
    if (done || done.error().code == ec::conflict)
      return answer_rpc(*ex, "{}");
    fail_rpc(*ex, rpc_error_of(done.error()));
  });
}

/// SIGKILL is answered when the process is gone, or nearly so.
void kill_process(const exchange_ptr& ex, const sandbox_program_ptr& which) {
  which->signal(SIGKILL, [ex, which](const sandbox_result<void>& done) {
    if (!done)
      return fail_rpc(*ex, rpc_error_of(done.error()));
    auto answer = [ex] { answer_rpc(*ex, "{}"); }; // the first one counts
    which->when_ended(answer);
    ex->after(after_kill, answer);
  });
}

void send_signal(const exchange_ptr& ex, const sandbox_program_ptr& to,
                 const json::object& body) {
  message_reader message{body};
  const auto* said = message.find("signal");
  const bool is_text = said && said->is_string();
  const std::string name{is_text ? std::string_view{said->get_string()} : ""};
  const auto number = is_text ? 0 : message.integer("signal").value_or(0);
  if (name == "SIGNAL_SIGKILL" || number == SIGKILL)
    return kill_process(ex, to);
  if (name == "SIGNAL_SIGTERM" || number == SIGTERM)
    return to->signal(SIGTERM, done_or_fail(ex));
  fail_rpc(*ex,
           {rpc_code::unimplemented,
            "the signal must be SIGNAL_SIGTERM or SIGNAL_SIGKILL"});
}

std::string process_json(const process_record& r) {
  json::object_writer config;
  config.text("cmd", r.argv.empty() ? std::string{} : r.argv.front());
  config.name("args").begin('[');
  for (std::size_t i = 1; i < r.argv.size(); ++i)
    config.text(json::repair_utf8(r.argv[i]));
  config.end(']').raw("envs", "{}").text("cwd", r.cwd);
  json::object_writer out;
  out.raw("config", config.finish()).number("pid", r.pid);
  if (!r.tag.empty())
    out.text("tag", r.tag);
  return out.finish();
}

void list(facade& shared, const exchange_ptr& ex, const visit& in) {
  if (!message_of(*ex, rpc_kind::unary))
    return;
  shared.sandboxes()->list_processes(
    in.who, in.id,
    [ex](const sandbox_result<std::vector<sandbox_program_ptr>>& all) {
      if (!all)
        return fail_rpc(*ex, rpc_error_of(all.error()));
      std::vector<process_record> shown;
      for (const auto& each : *all)
        if (auto r = each->record(); !r.ended() && is_shown(r))
          shown.push_back(std::move(r));
      json::object_writer out;
      out.raw("processes", json::array_of(shown, process_json));
      answer_rpc(*ex, out.finish());
    });
}

void resize(const exchange_ptr& ex, const sandbox_program_ptr& which,
            const json::object& body) {
  message_reader message{body};
  const auto* pty = message.object("pty");
  auto size = pty ? size_of(*pty)
                  : result<terminal_size>{bad_request("pty is missing")};
  if (!size)
    return fail_rpc(*ex,
                    {rpc_code::invalid_argument, message_of(size.error())});
  which->resize(*size, [ex](const sandbox_result<void>& done) {
    if (done)
      return answer_rpc(*ex, "{}");
    fail_rpc(*ex, {rpc_code::internal, message_of(done.error())});
  });
}

void refuse_stream_input(facade&, const exchange_ptr& ex, const visit&) {
  fail_stream(*ex, {rpc_code::unimplemented, "send input with SendInput"});
}

} // namespace

void add_processes(data_routes& into) {
  const auto add = [&](std::string_view name, visit_work work) {
    into.add(method::post, "/envd/process.Process/" + std::string{name},
             proof::token, std::move(work), largest_call);
  };
  add("Start", start);
  add("Connect", connect);
  add("List", list);
  add("SendInput", about_process(send_input));
  add("CloseStdin", about_process(close_input));
  add("SendSignal", about_process(send_signal));
  add("Update", about_process(resize));
  add("StreamInput", refuse_stream_input);
}

} // namespace troupe::net::e2b_facade
