#pragma once

#include "net/http/websocket.hpp"
#include "net/server/takeover.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

/// A terminal of a sandbox in a WebSocket. Binary messages are bytes both ways.
/// Texts are JSON: {"resize": {"cols", "rows"}} and {"signal": "INT"} come,
/// {"missed"}, {"error"} and, last, {"end"} go. Each way is read as fast as the
/// other end takes it. The terminal stays when the connection goes. On the
/// connection's thread.
class terminal_socket final
    : public connection_taker,
      public std::enable_shared_from_this<terminal_socket> {
public:
  /// Tells what was shown from the offset `from` on.
  terminal_socket(sandbox_program_ptr process, std::string greeting,
                  std::uint64_t from)
      : process_{std::move(process)}, out_{std::move(greeting)}, from_{from} {}

  void begin(connection& line) override;
  void received(std::string_view bytes) override;
  void ended() override;
  void sent() override;
  void closed() override;

private:
  void send(std::string frame);
  /// Sends what is next, if nothing is being sent.
  void pump();
  std::optional<std::string> next_frame();
  void wait_for_output();
  /// Acts on what came, until it has to wait for the process or the client.
  void act();
  void type(std::string keys);
  void type_again(std::string keys);
  void done(const sandbox_result<void>& how);
  void obey(const std::string& text);
  void tell_error(const error& why);
  void say(std::string frame);
  void close(websocket::status why);
  void stay_awake();
  /// Calls `then` on the connection's thread, if there is one by then.
  template <class Then>
  auto here(Then then);

  const sandbox_program_ptr process_;
  std::shared_ptr<connection> line_;
  websocket::reader reader_{bounds::process_input_bytes};
  std::optional<boost::asio::steady_timer> awake_; // against a silent death
  std::optional<boost::asio::steady_timer> again_; // for keys not taken yet
  std::string out_;                                // being sent
  std::deque<std::string> said_;                   // to be sent first
  std::uint64_t from_;
  bool sending_ = false;
  bool waiting_ = false; // for output
  bool holding_ = false; // what came is not used up
  bool asked_ = false;   // the process, which has not answered
  bool ends_ = false;    // when all that was said is sent
};

} // namespace troupe::net
