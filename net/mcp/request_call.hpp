#pragma once

#include "net/mcp/era.hpp"
#include "net/mcp/rpc.hpp"
#include "net/mcp/server_card.hpp"
#include "net/mcp/service.hpp"
#include "net/server/exchange.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::net::mcp {

/// One request of the protocol on its way to its one answer: a JSON object, or
/// the last event of a stream when something is told before it. Thread-safe.
class request_call : public std::enable_shared_from_this<request_call> {
public:
  request_call(std::shared_ptr<service> home, exchange_ptr ex,
               rpc_message message, era when, protocol_session_ptr session)
      : home_{std::move(home)}, ex_{std::move(ex)},
        message_{std::move(message)}, era_{when}, session_{std::move(session)} {
  }

  void run();

  service& home() const { return *home_; }
  const std::shared_ptr<service>& shared_home() const { return home_; }
  exchange& http() const { return *ex_; }
  const exchange_ptr& shared_http() const { return ex_; }
  const caller& who() const { return ex_->who(); }
  const rpc_message& message() const { return message_; }
  era when() const { return era_; }
  bool is_modern() const { return era_ == era::modern; }
  /// The version that was agreed on.
  std::string_view version() const {
    return session_ ? std::string_view{session_->version()} : modern_version;
  }
  /// Whether data beside the text may be sent, which came with a version.
  bool knows_data() const { return version() >= "2025-06-18"; }

  /// Members of the result, without braces.
  void answer(std::string members, cached how = cached::unsaid);
  void fail(const rpc_error& why);
  /// Told to a client that asked for it, before the answer.
  bool wants_progress() const;
  void progress(std::string line);
  /// What ends when the client does not want the answer any more.
  void on_cancel(std::function<void()> end);
  void cancel();

private:
  void finish(std::string text, int status);
  void write_event(std::string_view text);

  const std::shared_ptr<service> home_;
  const exchange_ptr ex_;
  const rpc_message message_;
  const era era_;
  const protocol_session_ptr session_;
  const std::chrono::steady_clock::time_point began_
    = std::chrono::steady_clock::now();
  std::mutex mutex_; // guards what follows
  bool over_ = false;
  bool streams_ = false;
  bool cancelled_ = false;
  std::int64_t progress_ = -1; // milliseconds
  std::function<void()> end_;
};
using request_ptr = std::shared_ptr<request_call>;

/// The head of an answer that is a stream of events.
response event_stream_head();
inline constexpr std::string_view event_heartbeat = ": \n\n";

} // namespace troupe::net::mcp
