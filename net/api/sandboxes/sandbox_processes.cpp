// Processes of living sandboxes: begun, waited for, fed, read, ended.
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/sandboxes/sandbox_output_stream.hpp"
#include "net/api/sandboxes/terminal_socket.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_stream.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

namespace troupe::net {

namespace {

constexpr std::size_t all_of_a_window = 64u << 20;
constexpr std::uint64_t small_answer = 64u << 10; // well below a millisecond
constexpr std::int64_t longest_read = 16 << 20;

std::string process_text(const sandbox_program_ptr& p) {
  return json::to_text(to_json(p->record()));
}

std::optional<process_spec> process_of(exchange& ex) {
  auto body = body_of(ex);
  if (!body)
    return std::nullopt;
  auto spec = parse_process_spec(*body);
  if (spec)
    return std::move(*spec);
  ex.fail(spec.error());
  return std::nullopt;
}

void start_process(sandbox_engine& engine, const sandbox_id& id,
                   const exchange_ptr& ex) {
  auto what = process_of(*ex);
  if (!what)
    return;
  engine.start(ex->who(), id, std::move(*what),
               or_fail<sandbox_program_ptr>(
                 ex, [id](exchange& ex, const sandbox_program_ptr& begun) {
                   response r;
                   r.status = 201;
                   r.body = process_text(begun);
                   r.fields.emplace_back("location",
                                         "/v1/sandboxes/" + id.str()
                                           + "/processes/"
                                           + begun->record().id);
                   ex.answer(std::move(r));
                 }));
}

/// All at once: how it ended, and what its windows still have.
void answer_ended(exchange& ex, const sandbox_program& process) {
  auto o = to_json(process.record());
  for (auto each : {output_stream::out, output_stream::err}) {
    auto piece = process.read(each, 0, all_of_a_window);
    const std::string name{name_of(each)};
    o[name] = json::repair_utf8(piece.bytes);
    o[name + "_missed"] = piece.missed;
  }
  ex.answer_json(json::to_text(o));
}

/// The end is told on the thread of the sandbox's place, which serves others: a
/// large answer is written on the connection's own.
void answer_in_turn(const exchange_ptr& ex, const sandbox_program_ptr& ended) {
  const auto record = ended->record();
  if (record.stdout_bytes + record.stderr_bytes <= small_answer)
    return answer_ended(*ex, *ended);
  ex->after(std::chrono::milliseconds{0},
            [ex, ended] { answer_ended(*ex, *ended); });
}

void execute(sandbox_engine& engine, const sandbox_id& id,
             const exchange_ptr& ex) {
  auto what = process_of(*ex);
  if (!what)
    return;
  if (what->open_input) {
    ex->fail(bad_field("/open_stdin", "has no use where the end is waited for",
                       "start a process instead, and write to it"));
    return;
  }
  engine.start(ex->who(), id, std::move(*what),
               or_fail<sandbox_program_ptr>(
                 ex, [](exchange& ex, const sandbox_program_ptr& begun) {
                   begun->when_ended([ex = ex.shared_from_this(), begun] {
                     answer_in_turn(ex, begun);
                   });
                 }));
}

void list_processes(sandbox_engine& engine, const sandbox_id& id,
                    const exchange_ptr& ex) {
  engine.list_processes(
    ex->who(), id,
    or_fail<std::vector<sandbox_program_ptr>>(
      ex, [](exchange& ex, const std::vector<sandbox_program_ptr>& all) {
        json::object_writer out;
        out.raw("items", json::array_of(all, process_text));
        ex.answer_json(out.finish());
      }));
}

/// A route about one process of a sandbox.
template <class Work>
sandbox_routes::one_handler with_process(Work work) {
  return [work](sandbox_engine& engine, const sandbox_id& id,
                const exchange_ptr& ex) {
    engine.find_process(ex->who(), id, std::string{ex->param(1)},
                        or_fail<sandbox_program_ptr>(
                          ex, [work](exchange& ex, sandbox_program_ptr found) {
                            work(ex.shared_from_this(), std::move(found));
                          }));
  };
}

void send_signal(const exchange_ptr& ex, const sandbox_program_ptr& process) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  const auto* said = in.member("signal");
  std::string text;
  if (said && said->is_string())
    text = std::string{said->get_string()};
  else if (said && said->is_int64())
    text = std::to_string(said->get_int64());
  auto number = parse_signal(text);
  if (!number)
    in.complain("signal", in.has("signal") ? "is no signal" : "is missing",
                "a name such as TERM, or its number");
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  process->signal(*number, nothing_or_fail(ex));
}

void resize(const exchange_ptr& ex, const sandbox_program_ptr& process) {
  auto body = body_of(*ex);
  if (!body)
    return;
  if (auto size = parse_terminal_size(*body))
    process->resize(*size, nothing_or_fail(ex));
  else
    ex->fail(size.error());
}

/// Out of HTTP, and into a WebSocket.
void attach(const exchange_ptr& ex, const sandbox_program_ptr& process) {
  query_reader query{ex->in().query};
  const auto from
    = query.integer("from", 0, std::numeric_limits<std::int64_t>::max());
  if (auto bad = query.finish())
    return ex->fail(*bad);
  if (!process->record().terminal)
    return ex->fail(fail(ec::conflict,
                         "the process has no terminal; it would have been "
                         "begun with 'terminal'"));
  if (!websocket::is_asked_for(ex->in()))
    return ex->refuse(426, "upgrade_required",
                      "this is a WebSocket of version 13: send 'Connection: "
                      "Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: "
                      "13' and 'Sec-WebSocket-Key'");
  ex->take_over(std::make_shared<terminal_socket>(
    process, websocket::accept(ex->in()),
    static_cast<std::uint64_t>(from.value_or(0))));
}

struct output_wish {
  sandbox_output_stream::wish what;
  bool follow = false;
};

std::optional<output_wish> read_output_wish(exchange& ex) {
  query_reader query{ex.in().query};
  output_wish wish;
  const auto stream = query.text("stream");
  if (stream == "stdout" || stream == "stderr")
    wish.what.only
      = stream == "stdout" ? output_stream::out : output_stream::err;
  else if (stream)
    query.complain("stream", "is no stream", "stdout or stderr");
  const auto from
    = query.integer("from", 0, std::numeric_limits<std::int64_t>::max());
  if (from && stream && wish.what.only)
    wish.what.from.of(*wish.what.only) = static_cast<std::uint64_t>(*from);
  else if (from && !stream)
    query.complain("from", "is an offset of one stream", "say stream as well");
  const auto encoding = query.text("encoding").value_or("text");
  if (encoding == "base64")
    wish.what.encoding = output_encoding::base64;
  else if (encoding != "text")
    query.complain("encoding", "is no encoding", "text or base64");
  wish.follow = query.boolean("follow").value_or(false);
  if (auto bad = query.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return wish;
}

/// What is there of one stream.
void answer_output(exchange& ex, const sandbox_program& process,
                   const sandbox_output_stream::wish& what) {
  const auto which = what.only.value_or(output_stream::out);
  const bool ended = process.record().ended(); // before what it said is read
  auto piece = process.read(which, what.from.of(which), longest_read);
  json::object_writer out;
  out.text("stream", name_of(which))
    .number("from", piece.from)
    .number("next", piece.next())
    .number("missed", piece.missed)
    .text("data",
          what.encoding == output_encoding::base64
            ? frame::to_base64(piece.bytes)
            : json::repair_utf8(piece.bytes))
    .boolean("ended", ended);
  ex.answer_json(out.finish());
}

void read_output(const exchange_ptr& ex, const sandbox_program_ptr& process) {
  auto wish = read_output_wish(*ex);
  if (!wish)
    return;
  if (!wish->follow)
    return answer_output(*ex, *process, wish->what);
  auto format = wanted_stream(ex->in()).value_or(stream_format::ndjson);
  std::make_shared<sandbox_output_stream>(ex, process, format, wish->what)
    ->start();
}

} // namespace

void add_sandbox_processes(router& routes, const api_options& options,
                           const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  const auto begin = needing(scope::run);
  const auto look = needing(scope::run, body_rule::none);
  const std::string processes = "/processes";
  const std::string one = processes + "/{process}";
  all.add(method::post, "/exec", execute, begin);
  all.add(method::post, processes, start_process, begin);
  all.add(method::get, processes, list_processes, look);
  all.add(method::get, one,
          with_process(
            [](const exchange_ptr& ex, const sandbox_program_ptr& process) {
              ex->answer_json(process_text(process));
            }),
          look);
  all.add(
    method::del, one,
    [](sandbox_engine& engine, const sandbox_id& id, const exchange_ptr& ex) {
      engine.remove_process(ex->who(), id, std::string{ex->param(1)},
                            nothing_or_fail(ex));
    },
    look);
  all.add(method::get, one + "/output", with_process(read_output),
          with_query());
  auto bytes = needing(scope::run, body_rule::any);
  bytes.body_limit = bounds::process_input_bytes;
  all.add(method::post, one + "/input",
          with_process(
            [](const exchange_ptr& ex, const sandbox_program_ptr& process) {
              process->write(ex->in().body, nothing_or_fail(ex));
            }),
          bytes);
  all.add(method::post, one + "/close",
          with_process(
            [](const exchange_ptr& ex, const sandbox_program_ptr& process) {
              process->close_input(nothing_or_fail(ex));
            }),
          look);
  all.add(method::post, one + "/signal", with_process(send_signal), begin);
  all.add(method::post, one + "/resize", with_process(resize), begin);
  auto taken = with_query();
  taken.takes_over = true;
  all.add(method::get, one + "/terminal", with_process(attach), taken);
}

} // namespace troupe::net
