#pragma once

#include "net/server/auth.hpp"
#include "net/server/exchange.hpp"
#include "net/server/request_parser.hpp"
#include "runtime/base/wiping_allocator.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/intrusive/list.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace troupe::net {

class connection_taker;
class io_worker;
class stream_budget;
using taker_ptr = std::shared_ptr<connection_taker>;

/// One HTTP/1.1 connection: parses requests (request_parser), applies the
/// limits and rules that need no handler (connection_request.cpp), hands an
/// `exchange` to the handler that the router found, and writes its response
/// (connection_response.cpp). One request at a time, under absolute deadlines.
/// Created by an io worker for an accepted socket and confined to its thread,
/// except where noted. Subclasses for TCP and TLS are in transport.cpp.
class connection
    : public std::enable_shared_from_this<connection>,
      public boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
  struct traits {
    boost::asio::ip::address peer;
    boost::asio::ip::address local;
    bool loopback = false;  // of the listener
    bool operators = false; // of the listener: the operator's socket
    bool tls = false;
    bool on_reserved_descriptor
      = false; // on the reserved descriptor: operators only
  };

  connection(std::shared_ptr<io_worker> home, traits t);
  virtual ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Begins to read, after a handshake where there is one.
  virtual void begin() { ready(); }

  // -- from an exchange, on any thread ---------------------------------------
  void deliver(std::uint64_t serial, response r);
  void open_stream(exchange_ptr ex, response head, std::string_view heartbeat);
  void flush_stream(exchange_ptr ex);
  void call_after(std::chrono::milliseconds time, std::function<void()> then);
  void release_body(std::size_t bytes) noexcept;
  std::size_t stream_buffer() const;
  stream_budget& streams() const;

  /// HTTP lets go of the connection.
  void take_over(std::uint64_t serial, taker_ptr by);

  // -- from what took it over, on its thread (takeover.hpp) ------------------
  /// What was received is used up: more of it, when it comes.
  void next();
  /// Tells `sent` when all of it is; one at a time.
  void send(boost::asio::const_buffer from);
  /// Everything was sent. The connection goes on alone from here, and ends.
  void end_taken();
  boost::asio::io_context::executor_type executor() const;
  const traits& about() const { return traits_; }

  // -- from the worker -------------------------------------------------------
  void tick(std::chrono::steady_clock::time_point now);
  bool is_idle() const;
  std::chrono::steady_clock::time_point since() const { return since_; }
  void close_if_idle();
  void abort();

protected:
  using clock = std::chrono::steady_clock;
  using error_code = boost::system::error_code;

  // -- what a transport offers -----------------------------------------------
  virtual void read_some(boost::asio::mutable_buffer into) = 0;
  /// As read_some, but only to get rid of it: encrypted bytes may stay so.
  virtual void skip_some(boost::asio::mutable_buffer into) { read_some(into); }
  virtual void write_all(boost::asio::const_buffer from) = 0;
  virtual void shut_write() = 0;
  virtual void close() = 0;

  // -- and what it reports ---------------------------------------------------
  void ready();
  void on_read(error_code ec, std::size_t n);
  void on_written(error_code ec, std::size_t n);
  /// Everything was said: listens for a moment, then ends.
  void linger();

  io_worker& home() { return *home_; }
  void read_deadline(clock::duration in);

private:
  enum class phase {
    handshake,
    head,
    body,
    handling,
    streaming,
    taken, // by something that is not HTTP
    lingering
  };

  /// What the answer needs to know when the exchange may be gone already.
  struct pending {
    std::uint64_t serial = 0;
    bool open = false;
    bool counted = false; // among the requests in flight
    bool head_only = false;
    bool http10 = false;
    bool keep = false;
    bool gzip = false;
    method verb = method::get;
    std::size_t route_index = 0;
    std::string_view route;
    std::string request_id;
    std::string organization;
    std::string key_id;
    std::string trace_id;
    clock::time_point began{};
  };

  std::string_view buffered() const;
  void process_input();
  bool step();
  bool take_head();
  bool take_body();
  void admit(exchange_ptr ex);
  std::optional<refusal> admissible(exchange& ex);
  std::optional<refusal> check_body_rules(const request& in,
                                          const route_rules& rules) const;
  std::optional<refusal> reserve(exchange& ex, std::size_t bytes);
  void answer_unrouted(exchange& ex);
  void name_request(request& in);
  void expect_body(exchange& ex);
  void dispatch(exchange_ptr ex);
  static void handle(exchange_ptr ex);
  void refuse_bytes(const refusal& why);
  void refuse(exchange& ex, const refusal& why);
  void delivered(std::uint64_t serial, response r);
  void compress(response& r) const;
  void finish_request(int status, std::size_t bytes);
  void log(int status, std::size_t bytes);
  void opened_stream(exchange_ptr ex, response head,
                     std::string_view heartbeat);
  void drain_stream(const exchange_ptr& ex);
  void append_chunk(std::string_view piece);
  void flush();
  void want_read();
  void wipe_read();
  void skipped(error_code ec, std::size_t n);
  void stream_written();
  void peer_closed(bool cleanly);
  std::string_view probe_text() const;
  void probe();
  void release_counts();
  void taken(std::uint64_t serial, taker_ptr by);
  void read_taken(error_code ec, std::size_t n);
  void wrote_taken();
  void offer();
  void write_taken();
  void leave_taker();

  std::shared_ptr<io_worker> home_;
  const traits traits_;
  request_guard doorman_;
  phase phase_ = phase::handshake;
  boost::beast::basic_flat_buffer<wiping_allocator<char>> in_;
  std::size_t unwiped_ = 0; // of in_, from its beginning, at most
  std::size_t scanned_ = 0;
  bool skipped_blank_ = false;
  std::optional<message_parser> parser_;
  exchange_ptr arriving_; // while its body is read
  std::weak_ptr<exchange> handled_;
  exchange_ptr stream_;
  exchange_ptr tail_; // a stream that has ended, while its last bytes are sent
  std::string_view heartbeat_;
  taker_ptr taker_;
  std::size_t offered_ = 0; // of in_, with the taker
  boost::asio::const_buffer taken_out_;
  bool taken_waits_ = false;   // taken_out_ is to be written
  bool taken_writing_ = false; // it is what is being written
  int stream_status_ = 0;
  std::size_t stream_bytes_ = 0;   // of the stream, in all
  std::size_t stream_queued_ = 0;  // of the stream, in out_
  std::size_t stream_writing_ = 0; // of the stream, in writing_
  pending pending_;
  std::uint64_t serial_ = 0;
  std::string out_;
  std::string writing_;
  std::size_t lingered_ = 0;
  bool skipping_ = false;      // the read under way only gets rid of bytes
  bool reading_ahead_ = false; // ... goes into this:
  std::array<char, 512> ahead_;
  clock::time_point since_{};
  clock::time_point last_write_{};
  clock::time_point read_by_ = clock::time_point::max();
  clock::time_point write_by_ = clock::time_point::max();
  bool reading_ = false;
  bool write_busy_ = false;
  bool pumping_ = false;
  bool closing_ = false;
  bool peer_done_ = false;
  bool dead_ = false;
  bool left_ = false;
};

} // namespace troupe::net
