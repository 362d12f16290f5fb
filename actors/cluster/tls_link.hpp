#pragma once

#include "actors/cluster/basp_frame_limit.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace troupe {

/// A connection between two nodes. TCP and TLS are ours; the middleman of CAF
/// gets one end of a socket pair and never listens or dials, so no
/// unauthenticated peer reaches it. Used on one thread.
class tls_link : public std::enable_shared_from_this<tls_link> {
public:
  using tcp = boost::asio::ip::tcp;

  /// `largest`: bytes of one message of the peer; beyond it the link is cut.
  /// `silence`: so long a peer may say nothing that has sent a heartbeat once.
  tls_link(tcp::socket raw, std::shared_ptr<boost::asio::ssl::context> tls,
           std::uint64_t largest, std::chrono::milliseconds silence);

  /// As the side that answers; within the deadline of handshakes.
  boost::asio::awaitable<result<void>> handshake_as_server();
  /// As the side that dials; `host` must stand in the other's certificate.
  boost::asio::awaitable<result<void>> handshake_as_client(std::string host);

  /// The descriptor for the middleman, which owns it from here on.
  result<int> take_caf_socket();

  /// Carries bytes both ways until one end is gone. Closes both.
  boost::asio::awaitable<void> relay();
  /// Whether bytes went out since the last call, or want to.
  bool is_telling() { return std::exchange(told_, telling_); }
  void close();
  /// Why the other side cut it, once it is closed; "": it just did. On any
  /// thread.
  std::string why_cut() const;

private:
  void accept_only(const std::string& host);
  boost::asio::awaitable<result<void>>
  shake_hands(boost::asio::ssl::stream_base::handshake_type side);
  boost::asio::awaitable<void> relay_outbound();
  boost::asio::awaitable<void> monitor_heartbeat();

  std::shared_ptr<boost::asio::ssl::context> tls_;
  boost::asio::ssl::stream<tcp::socket> peer_;
  boost::asio::local::stream_protocol::socket ours_;
  basp_frame_limit guard_;
  const std::chrono::milliseconds silence_;
  boost::asio::steady_timer pulse_;
  bool listening_ = false; // for the peer, and not busy with what it said
  bool heard_ = false;     // something since the last look
  std::string refusal_;    // of the other side's certificate
  mutable std::mutex mutex_;
  std::string why_cut_;
  bool telling_ = false; // bytes are on their way out
  bool told_ = false;    // or were, since the last look
};

} // namespace troupe
