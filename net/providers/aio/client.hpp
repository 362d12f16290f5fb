#pragma once

#include "net/client/http_client.hpp"
#include "net/providers/aio/calls.hpp"
#include "net/providers/aio/provider.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::net {

/// How an AIO sandbox is spoken to: JSON in an envelope that can say no with
/// status 200.
class aio_client {
public:
  static constexpr std::string_view service_name = "AIO sandbox";
  static constexpr std::string_view key_setting = "aio.api-key";
  /// For what is tidied up when a run's own time may be over.
  static constexpr std::chrono::seconds late_patience{5};

  aio_client(std::shared_ptr<http_client> http, aio_options options);

  const aio_options& options() const { return options_; }

  /// `data` of the answer. `acted` (may be null) learns whether something may
  /// have been begun although it failed.
  boost::asio::awaitable<result<json::object>>
  call(operation what, call_scope scope, bool* acted = nullptr) const;
  boost::asio::awaitable<result<json::object>>
  call(std::string target, json::object body, std::string_view doing,
       call_scope scope, bool* acted = nullptr) const;
  /// For answers without an envelope.
  boost::asio::awaitable<result<client_response>>
  send(operation what, call_scope scope, bool* acted = nullptr) const;

  /// A short one of ours: its output, or an error unless it ended well.
  boost::asio::awaitable<result<std::string>>
  plain_command(std::string line, call_scope scope,
                bool* acted = nullptr) const;
  /// Nobody waits for it.
  void close_session(std::string session, std::string traceparent) const;

private:
  std::shared_ptr<http_client> http_;
  aio_options options_;
  base_url service_;
};

} // namespace troupe::net
