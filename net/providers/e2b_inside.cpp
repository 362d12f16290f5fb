#include "net/providers/e2b_inside.hpp"

#include "net/fail.hpp"
#include "net/providers/connect_stream.hpp"
#include "net/providers/e2b_messages.hpp"
#include "net/providers/json_lines.hpp"
#include "net/providers/multipart.hpp"
#include "net/providers/status.hpp"
#include "runtime/frame/base64.hpp"

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

} // namespace

// -- files -------------------------------------------------------------------

/// As a form: every envd takes that, plain bytes only the newer ones.
asio::awaitable<result<void>> e2b_inside::write_file(remote_sandbox sandbox,
                                                     std::string path,
                                                     std::string content,
                                                     call_scope scope) {
  auto keep = shared_from_this();
  auto target = "/files?path=" + percent_encode(path);
  if (envd_of(sandbox) < names_its_user)
    target += "&username=" + std::string{user};
  auto request = client_.to_sandbox(sandbox, to_envd, http::verb::post,
                                    std::move(target), scope);
  if (!request)
    co_return request.error();
  auto boundary = make_boundary();
  std::vector<form_part> parts{form_file("file", path, content)};
  request->headers.set(http::field::content_type, form_type(boundary));
  request->body = form_body(parts, boundary);
  request->idempotent = true;
  auto done = co_await client_.http().send(std::move(*request));
  if (!done.answer)
    co_return done.answer.error();
  if (!done.answer->ok())
    co_return refused(e2b_client::service, "take a file", *done.answer,
                      e2b_client::key_setting);
  co_return result<void>{};
}

// -- processes ---------------------------------------------------------------

/// Beside the stream that waits for the process: its own connection.
void e2b_inside::send_input(remote_sandbox sandbox, std::uint32_t pid,
                            std::string text, call_scope scope) {
  auto work = [](std::shared_ptr<e2b_inside> self, remote_sandbox box,
                 std::uint32_t process, std::string input,
                 call_scope bounds) -> asio::awaitable<void> {
    std::pair<const char*, std::string> calls[]{
      {"/process.Process/SendInput", input_body(process, input)},
      {"/process.Process/CloseStdin", process_body(process)}};
    for (auto& [path, message] : calls) {
      auto request = self->client_.to_sandbox(box, to_envd, http::verb::post,
                                              path, bounds);
      if (!request)
        co_return;
      request->abort = nullptr; // that one belongs to the stream
      request->headers.set("Connect-Protocol-Version", "1");
      request->headers.set(http::field::content_type, "application/json");
      request->body = std::move(message);
      co_await self->client_.http().send(std::move(*request));
    }
  };
  asio::co_spawn(
    client_.http().executor(),
    work(shared_from_this(), std::move(sandbox), pid, std::move(text), scope),
    asio::detached);
}

asio::awaitable<result<command_end>> e2b_inside::execute(remote_sandbox sandbox,
                                                         command_request what,
                                                         output_sink sink,
                                                         call_scope scope) {
  auto keep = shared_from_this();
  std::string input_file;
  if (!what.input.empty() && envd_of(sandbox) < closes_input) {
    input_file = std::string{input_prefix} + make_uuid();
    auto there = co_await write_file(
      sandbox, input_file, std::exchange(what.input, std::string{}), scope);
    if (!there)
      co_return there.error();
  }
  auto request = client_.to_sandbox(sandbox, to_envd, http::verb::post,
                                    "/process.Process/Start", scope);
  if (!request)
    co_return request.error();
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
  auto end = co_await follow(std::move(*request), std::move(sandbox),
                             std::move(what.input), std::move(sink), scope);
  co_return end;
}

asio::awaitable<result<command_end>>
e2b_inside::follow(client_request request, remote_sandbox sandbox,
                   std::string input, output_sink sink, call_scope scope) {
  std::optional<command_end> end;
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
      send_input(sandbox, event->pid, input, scope);
    return {};
  }};
  result<void> fed;
  stream_reader reader;
  reader.head = [](const client_response& r) { return r.status == 200; };
  reader.data = [&](std::string_view bytes) {
    fed = events.feed(bytes);
    return fed.has_value();
  };
  auto done
    = co_await client_.http().stream(std::move(request), std::move(reader));
  if (!fed)
    co_return fed.error();
  if (!done.answer)
    co_return done.answer.error();
  if (done.answer->status != 200)
    co_return refused(e2b_client::service, "start a process", *done.answer,
                      e2b_client::key_setting);
  if (auto whole = events.finish(); !whole)
    co_return whole.error();
  if (!end)
    co_return fail(ec::unavailable, "the process never ended");
  co_return *end;
}

// -- code --------------------------------------------------------------------

std::shared_ptr<const std::string>
e2b_inside::head_of(const std::shared_ptr<const std::string>& runner) {
  auto& head = heads_[runner];
  if (!head)
    head = std::make_shared<const std::string>(execute_head(*runner));
  return head;
}

asio::awaitable<result<command_end>>
e2b_inside::run_cell(remote_sandbox sandbox, language lang,
                     script::remote_script script, output_sink sink,
                     call_scope scope) {
  auto keep = shared_from_this();
  auto request = client_.to_sandbox(sandbox, to_interpreter, http::verb::post,
                                    "/execute", scope);
  if (!request)
    co_return request.error();
  request->headers.set(http::field::content_type, "application/json");
  request->body_head = head_of(script.runner);
  request->body = execute_rest(lang, script.rest.reveal());

  command_end end;
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
  reader.head = [](const client_response& r) { return r.status == 200; };
  reader.data = [&](std::string_view bytes) {
    fed = lines.feed(bytes);
    return fed.has_value();
  };
  auto done
    = co_await client_.http().stream(std::move(*request), std::move(reader));
  if (!fed)
    co_return fed.error();
  if (!done.answer)
    co_return done.answer.error();
  if (done.answer->status != 200)
    co_return refused(e2b_client::service, "run the code", *done.answer,
                      e2b_client::key_setting);
  if (auto last = lines.finish(); !last)
    co_return last.error();
  if (!ended)
    co_return fail(ec::unavailable,
                   "the sandbox went away before the code had ended");
  co_return end;
}

} // namespace troupe::net
