#pragma once

#include "net/previews/body_meter.hpp"
#include "net/server/io_worker.hpp"
#include "net/server/takeover.hpp"
#include "runtime/base/unique_fd.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace troupe::net {

/// One request and its answer between a client and a server in a sandbox, then
/// the connection's end; or, once the server has agreed to another protocol,
/// bytes both ways. Each way is read as fast as the other end takes it.
class relay final : public connection_taker,
                    public std::enable_shared_from_this<relay> {
public:
  struct order {
    unique_fd server;    // connected
    std::string request; // its head
    body_shape body;
    answer_rules answer;
    std::shared_ptr<void> counted; // let go with the connection
  };
  explicit relay(order what);

  /// Bytes both ways from the beginning: `greeting` goes to the client first.
  static std::shared_ptr<relay> tunnel(unique_fd server, std::string greeting,
                                       std::shared_ptr<void> counted);

  void begin(connection& line) override;
  void received(std::string_view bytes) override;
  void ended() override;
  void sent() override;
  void closed() override;
  int status() const override { return status_; }

private:
  static constexpr std::size_t longest_head = 64u << 10;
  static constexpr std::size_t piece = 64u << 10;

  void to_server(std::string_view bytes);
  void wrote(boost::system::error_code code);
  void pass_on();
  void read_head();
  void take_head(std::size_t end);
  void read_more();
  void read(std::size_t n);
  void open_both_ways();
  void fail(std::string_view code, std::string_view text);
  void abort();
  void finish();

  order what_;
  body_meter meter_;
  std::shared_ptr<connection> line_; // null: it is gone
  std::optional<tcp_socket> server_;
  std::string_view held_;    // of the client, not yet passed on
  std::size_t offered_ = 0;  // what of it is being written
  bool has_bytes_ = false;   // `held_` is the connection's, and to be released
  bool writing_ = false;     // to the server
  bool opaque_ = false;      // both ways, whatever it is
  bool client_done_ = false; // it sends no more
  bool answered_ = false;    // a head is on its way to the client
  bool over_ = false;        // the last bytes are on their way
  std::string head_;         // of the answer, as far as it has come
  std::string out_;          // to the client, before what is in `buffer_`
  unsigned interims_ = 0;
  int status_ = 101;
  std::optional<std::uint64_t> left_; // of the answer's body
  std::unique_ptr<std::array<char, piece>> buffer_;
};

} // namespace troupe::net
