#pragma once

#include "net/client/connection.hpp"
#include "net/client/http_client.hpp"
#include "net/grpc/grpc_message.hpp"
#include "net/grpc/http2_session.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::net {

struct grpc_call {
  std::string path;     // "/package.Service/Method"
  header_list metadata; // lower-case names
  std::string message;
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<cancellation> abort;
  std::string traceparent; // W3C; "": none
  /// Each message of the reply; false breaks the call off.
  std::function<bool(std::string_view)> on_message;
};

struct grpc_reply {
  grpc_status status;
  bool may_have_acted = false; // of a call that failed
};

struct channel_options {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds ping_every{30'000};
  std::chrono::milliseconds ping_patience{10'000};
  std::size_t max_message_bytes = 100u << 20;
  /// Past so many calls at a time another connection is opened: servers take
  /// about a hundred on one, and leave the others waiting.
  std::size_t calls_per_connection = 100;
  std::size_t max_connections = 16;
  std::string user_agent = "troupe/" TROUPE_VERSION;
  std::shared_ptr<client_counters> counters{}; // may be empty
};

/// gRPC to one service over one HTTP/2 connection, or a few when there are many
/// calls; opened when needed and opened anew when one broke or the server sent
/// it away. On the executor it was made with, which must be of one thread.
class grpc_channel : public std::enable_shared_from_this<grpc_channel> {
public:
  grpc_channel(boost::asio::any_io_executor executor, base_url service,
               std::shared_ptr<boost::asio::ssl::context> tls,
               std::shared_ptr<resolver> names, address_rule rule,
               channel_options options = {});

  boost::asio::awaitable<grpc_reply> call(grpc_call what);
  /// Of the caller's: a call that is made once more.
  void count_retry() { count(&client_counters::retries); }
  /// For good: ends every call, and the connection that is just being opened.
  void close();

private:
  struct link;
  using link_ptr = std::shared_ptr<link>;

  void count(client_counters::counter client_counters::*what) {
    if (options_.counters)
      ++(options_.counters.get()->*what);
  }

  boost::asio::awaitable<result<link_ptr>>
  connected(std::chrono::steady_clock::time_point deadline);
  link_ptr least_busy();
  boost::asio::awaitable<result<link_ptr>>
  connect(std::chrono::steady_clock::time_point deadline);
  static boost::asio::awaitable<void> read(link_ptr l);
  static boost::asio::awaitable<void> write(link_ptr l);
  static boost::asio::awaitable<void> watch(link_ptr l, channel_options o);
  static void flush(const link_ptr& l);

  boost::asio::any_io_executor executor_;
  base_url service_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::shared_ptr<resolver> names_;
  address_rule rule_;
  channel_options options_;
  std::vector<link_ptr> links_;
  bool connecting_ = false;
  std::shared_ptr<cancellation> closed_ = std::make_shared<cancellation>();
  boost::asio::steady_timer connect_ended_; // wakes calls that wait for it
};

} // namespace troupe::net
