#include "net/mcp/request_call.hpp"

#include "net/mcp/methods.hpp"
#include "net/mcp/server_card.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe::net::mcp {

namespace {

/// The token that a client asks for progress with, as JSON; "": it does not.
std::string token_of(const rpc_message& message) {
  const auto* token = message.meta("progressToken");
  return token && (token->is_string() || token->is_int64())
    ? json::to_text(*token)
    : std::string{};
}

} // namespace

response event_stream_head() {
  response head;
  head.type = "text/event-stream";
  head.fields.emplace_back("cache-control", "no-cache, no-transform");
  head.fields.emplace_back("x-accel-buffering", "no");
  return head;
}

void request_call::run() {
  const auto* method = find_method(message_.method);
  if (!method || !(is_modern() ? method->modern : method->legacy))
    return fail({is_modern() ? 404 : 200, codes::method_not_found,
                 "Method not found: " + message_.method.substr(0, 100)});
  if (session_)
    session_->begins(message_.id, weak_from_this());
  if (is_modern()) // there a closed connection is a cancellation
    ex_->on_disconnect([weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->cancel();
    });
  method->work(*this);
}

void request_call::answer(std::string members, cached how) {
  finish(result_text(message_.id,
                     is_modern() ? modern_result(members, how)
                                 : "{" + members + "}"),
         200);
}

void request_call::fail(const rpc_error& why) {
  finish(error_text(message_.id, why), why.status);
}

void request_call::finish(std::string text, int status) {
  if (session_)
    session_->ended(message_.id);
  bool streams = false;
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(over_, true))
      return;
    streams = streams_;
    end_ = {};
  }
  if (!streams)
    return ex_->answer_json(std::move(text), status);
  write_event(text);
  ex_->finish();
}

bool request_call::wants_progress() const {
  return !token_of(message_).empty();
}

void request_call::progress(std::string line) {
  const auto token = token_of(message_);
  if (token.empty())
    return;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::steady_clock::now() - began_)
                     .count();
  std::lock_guard lock{mutex_};
  if (over_)
    return;
  progress_ = std::max<std::int64_t>(progress_ + 1, now); // it always grows
  if (!std::exchange(streams_, true))
    ex_->open(event_stream_head(), event_heartbeat);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f",
                static_cast<double>(progress_) / 1'000);
  json::object_writer params;
  params.raw("progressToken", token)
    .raw("progress", seconds)
    .text("message", line);
  write_event(notification_text("notifications/progress", params.finish()));
}

void request_call::write_event(std::string_view text) {
  std::string event{is_modern() ? "data: " : "event: message\ndata: "};
  ex_->write(event.append(text).append("\n\n"));
}

void request_call::on_cancel(std::function<void()> end) {
  {
    std::lock_guard lock{mutex_};
    if (!cancelled_) {
      if (!over_) // else it would be kept, with all that it holds
        end_ = std::move(end);
      return;
    }
  }
  end();
}

void request_call::cancel() {
  std::function<void()> end;
  bool streams = false;
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(over_, true))
      return;
    cancelled_ = true;
    streams = streams_;
    end = std::exchange(end_, {});
  }
  if (session_)
    session_->ended(message_.id);
  if (end)
    end();
  // There is no answer to it any more, only the end of the request.
  if (streams)
    return ex_->finish();
  response r;
  r.status = 202;
  r.type = {};
  ex_->answer(std::move(r));
}

} // namespace troupe::net::mcp
