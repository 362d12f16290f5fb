#include "net/providers/e2b/exec.hpp"

#include "net/http/json_lines.hpp"
#include "net/providers/connect_stream.hpp"
#include "net/providers/e2b/calls.hpp"
#include "net/providers/e2b/messages.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using namespace e2b;

namespace {

constexpr auto to_envd = e2b_client::envd_port;
constexpr auto to_interpreter = e2b_client::interpreter_port;
constexpr std::string_view input_prefix = "/tmp/troupe-input-";
// For what is ended when a run's own time may be over.
constexpr std::chrono::seconds kill_patience{5};
// Of a shell's words, as many as name a file.
constexpr std::size_t max_complaint_bytes = 1'024;

/// A process that does not want its input, or has ended, is told nothing more
/// and fails for nothing: its end tells.
bool took_input(const client_exchange& done) {
  if (!done.answer)
    return false;
  const auto& body = done.answer->body;
  return done.answer->ok() || done.answer->status == 404
    || body.find("broken pipe") != body.npos
    || body.find("already closed") != body.npos;
}

/// Where it is the sandbox that is gone, nothing is said about its provider.
error refusal(const client_response& reply, std::string_view doing) {
  auto why
    = refused(e2b_client::service, doing, reply, e2b_client::key_setting);
  if (says_sandbox_is_gone(reply))
    why.code = ec::not_found;
  return why;
}

/// An answer in the place of the stream that was to tell of a process.
process_outcome not_begun(const client_exchange& done, std::string_view doing) {
  auto gone = says_sandbox_is_gone(*done.answer);
  return {refusal(*done.answer, doing), may_have_acted(done) && !gone};
}

} // namespace

/// How it went with a process's input. One stream waits for the process, the
/// input goes beside it; without its input the process is not to go on.
struct e2b_exec::delivery {
  std::shared_ptr<cancellation> stream = std::make_shared<cancellation>();
  std::optional<error> broken;
};

// -- processes ---------------------------------------------------------------

/// Beside the stream that waits for the process: its own connection.
asio::awaitable<void> e2b_exec::deliver(sandbox_handle sandbox,
                                        std::uint32_t pid, std::string text,
                                        std::shared_ptr<delivery> into,
                                        call_scope scope) {
  auto keep = shared_from_this();
  scope.cancel = nullptr; // that one belongs to the stream
  auto message = send_input(pid, text);
  auto done = co_await client_.ask(sandbox, std::move(message), scope);
  if (took_input(done)) {
    message = close_input(pid);
    done = co_await client_.ask(sandbox, std::move(message), scope);
  }
  if (took_input(done))
    co_return;
  into->broken = done.answer
    ? refusal(*done.answer, "give a process its input")
    : done.answer.error().within("give a process its input");
  // What waits for the rest, or takes half of it for the whole, is ended.
  scope.deadline = std::chrono::steady_clock::now() + kill_patience;
  message = send_signal(pid, "SIGNAL_SIGKILL");
  (void)co_await client_.ask(sandbox, std::move(message), scope);
  into->stream->cancel();
}

/// Before the process: an older envd cannot be told that an input ends.
asio::awaitable<result<void>> e2b_exec::put_input(sandbox_handle sandbox,
                                                  std::string path,
                                                  std::string text,
                                                  call_scope scope) {
  std::vector<sandbox_file> files;
  files.push_back({std::move(path), std::move(text)});
  auto message = write_files(files, user_of(sandbox));
  auto done = co_await client_.ask(sandbox, std::move(message), scope);
  if (!done.answer)
    co_return done.answer.error().within("take a process's input");
  if (!done.answer->ok())
    co_return refusal(*done.answer, "take a process's input");
  co_return result<void>{};
}

asio::awaitable<process_outcome> e2b_exec::execute(sandbox_handle sandbox,
                                                   process_request what,
                                                   output_sink sink,
                                                   call_scope scope) {
  auto keep = shared_from_this();
  std::string input_file;
  if (!what.input.empty() && envd_of(sandbox) < closes_input) {
    input_file = std::string{input_prefix} + make_uuid();
    auto text = std::exchange(what.input, std::string{});
    auto there
      = co_await put_input(sandbox, input_file, std::move(text), scope);
    if (!there)
      co_return process_outcome{there.error(), false};
  }
  auto request = client_.to_sandbox(sandbox, to_envd, http::verb::post,
                                    "/process.Process/Start", scope);
  if (!request)
    co_return process_outcome{request.error(), false};
  request->headers.set("Connect-Protocol-Version", "1");
  request->headers.set("Keepalive-Ping-Interval", "50");
  request->headers.set(http::field::content_type, "application/connect+json");
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
    scope.deadline - std::chrono::steady_clock::now());
  if (left.count() > 0)
    request->headers.set("Connect-Timeout-Ms", std::to_string(left.count()));
  for (const auto& [name, value] : sandbox.env)
    what.env.try_emplace(name, value.reveal());
  request->body = connect_envelope(start_body(what, input_file));
  std::string complaint;
  output_sink listen = [&](output_stream from, std::string_view bytes) {
    auto room = max_complaint_bytes - complaint.size();
    if (from == output_stream::err)
      complaint += bytes.substr(0, room);
    sink(from, bytes);
  };
  auto done = co_await follow(std::move(*request), std::move(sandbox),
                              std::move(what.input), std::move(listen), scope);
  // It was there a moment ago: that is no word about the provider either.
  if (!input_file.empty() && done.end && done.end->exit_code == lost_input_code
      && complaint.find(input_file) != std::string::npos)
    co_return process_outcome{
      fail(ec::not_found, "the sandbox lost the process's input"), true};
  co_return done;
}

asio::awaitable<process_outcome>
e2b_exec::follow(client_request request, sandbox_handle sandbox,
                 std::string input, output_sink sink, call_scope scope) {
  std::optional<process_end> end;
  auto given = std::make_shared<delivery>();
  connect_reader events{[&](std::string_view json) -> result<void> {
    auto event = parse_process_event(json);
    if (!event)
      return event.error();
    if (event->what == process_event::kind::out)
      sink(output_stream::out, event->bytes);
    else if (event->what == process_event::kind::err)
      sink(output_stream::err, event->bytes);
    else if (event->what == process_event::kind::ended)
      end = event->end;
    else if (event->what == process_event::kind::started && !input.empty())
      asio::co_spawn(
        client_.http().executor(),
        deliver(sandbox, event->pid, std::exchange(input, {}), given, scope),
        asio::detached);
    return {};
  }};
  result<void> fed;
  stream_reader reader;
  reader.head = [&scope](const client_response& r) {
    if (r.status == 200)
      tell_begun(scope);
    return r.status == 200;
  };
  reader.data = [&](std::string_view bytes) {
    fed = events.feed(bytes);
    return fed.has_value();
  };
  request.abort = given->stream;
  if (scope.cancel)
    scope.cancel->on_cancel([given] { given->stream->cancel(); });
  auto done
    = co_await client_.http().stream(std::move(request), std::move(reader));
  if (scope.cancel)
    scope.cancel->clear();
  if (given->broken)
    co_return process_outcome{*given->broken, true};
  if (!fed)
    co_return process_outcome{fed.error(), true};
  if (!done.answer && !done.may_have_acted)
    co_return process_outcome{done.answer.error(), false};
  if (done.answer && done.answer->status != 200)
    co_return not_begun(done, "start a process");
  auto whole = done.answer ? events.finish() : done.answer.error();
  if (!whole)
    co_return co_await cut_off(std::move(sandbox), whole.error(), scope);
  if (!end)
    co_return process_outcome{fail(ec::unavailable, "the process never ended"),
                              true};
  co_return *end;
}

/// A stream that broke: the way to the sandbox, or the sandbox itself?
asio::awaitable<process_outcome>
e2b_exec::cut_off(sandbox_handle sandbox, error why, call_scope scope) {
  auto now = std::chrono::steady_clock::now();
  auto over
    = (scope.cancel && scope.cancel->cancelled()) || scope.deadline <= now;
  scope.deadline = std::min(scope.deadline, now + kill_patience);
  auto request
    = client_.to_sandbox(sandbox, to_envd, http::verb::get, "/health", scope);
  if (over || !request)
    co_return process_outcome{std::move(why), true};
  auto done = co_await client_.http().send(std::move(*request));
  if (done.answer && says_sandbox_is_gone(*done.answer)) {
    why.code = ec::not_found;
    why.text = "its sandbox no longer exists: " + why.text;
  }
  co_return process_outcome{std::move(why), true};
}

// -- code --------------------------------------------------------------------

std::shared_ptr<const std::string>
e2b_exec::head_of(language lang,
                  const std::shared_ptr<const std::string>& runner) {
  auto& head = heads_[runner];
  if (!head)
    head = std::make_shared<const std::string>(execute_head(lang, *runner));
  return head;
}

asio::awaitable<process_outcome>
e2b_exec::run_cell(sandbox_handle sandbox, language lang, sandbox_script script,
                   output_sink sink, call_scope scope) {
  auto head = head_of(lang, script.runner);
  auto rest = execute_rest(lang, script.rest.reveal());
  return send_cell(std::move(sandbox), std::move(head), std::move(rest),
                   std::move(sink), std::move(scope));
}

asio::awaitable<process_outcome>
e2b_exec::run_in_context(sandbox_handle sandbox, std::string context,
                         std::string code, output_sink sink, call_scope scope) {
  json::object body{{"code", code}, {"context_id", context}};
  return send_cell(std::move(sandbox), nullptr, json::to_text(body),
                   std::move(sink), std::move(scope));
}

asio::awaitable<process_outcome>
e2b_exec::send_cell(sandbox_handle sandbox,
                    std::shared_ptr<const std::string> head, std::string rest,
                    output_sink sink, call_scope scope) {
  auto keep = shared_from_this();
  auto request = client_.to_sandbox(sandbox, to_interpreter, http::verb::post,
                                    "/execute", scope);
  if (!request)
    co_return process_outcome{request.error(), false};
  request->headers.set(http::field::content_type, "application/json");
  request->body_head = std::move(head);
  request->body = std::move(rest);

  process_end end;
  auto ended = false;
  line_reader lines{[&](std::string_view line) -> result<void> {
    auto event = parse_cell_event(line);
    if (!event)
      return event.error();
    if (event->what == cell_event::kind::out)
      sink(output_stream::out, event->text);
    else if (event->what == cell_event::kind::err)
      sink(output_stream::err, event->text);
    else if (event->what == cell_event::kind::failed) {
      end.exit_code = 1;
      end.detail = event->text;
    } else if (event->what == cell_event::kind::ended)
      ended = true;
    return {};
  }};
  result<void> fed;
  stream_reader reader;
  reader.head = [&scope](const client_response& r) {
    if (r.status == 200)
      tell_begun(scope);
    return r.status == 200;
  };
  reader.data = [&](std::string_view bytes) {
    fed = lines.feed(bytes);
    return fed.has_value();
  };
  auto done
    = co_await client_.http().stream(std::move(*request), std::move(reader));
  if (!fed)
    co_return process_outcome{fed.error(), true};
  if (!done.answer && !done.may_have_acted)
    co_return process_outcome{done.answer.error(), false};
  if (done.answer && done.answer->status != 200)
    co_return not_begun(done, "run the code");
  if (auto last = lines.finish(); !last)
    co_return process_outcome{last.error(), true};
  auto why = done.answer ? fail(ec::unavailable, "the code never ended")
                         : done.answer.error();
  if (!ended)
    co_return co_await cut_off(std::move(sandbox), std::move(why), scope);
  co_return end;
}

} // namespace troupe::net
