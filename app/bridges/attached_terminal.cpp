#include "app/bridges/attached_terminal.hpp"

#include "net/http/websocket.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/random.hpp"
#include "runtime/base/unique_fd.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <optional>
#include <vector>

namespace troupe {

namespace {

namespace asio = boost::asio;
namespace ws = net::websocket;

constexpr char leave_key = '\x1d'; // Ctrl-], as telnet has it
constexpr std::size_t keys_at_once = 4'096;
constexpr std::size_t piece_size = 64u << 10;
constexpr std::size_t longest_message = 1u << 20;
/// Of frames that the engine has not taken: keys wait until it has.
constexpr std::size_t most_unsent = 16;

std::string random_key() {
  std::array<std::uint8_t, 16> bytes{};
  random_bytes(bytes);
  return frame::to_base64(
    {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// What is shown holds us up: then the engine holds up the program.
bool show(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// The terminal here, as one for a program elsewhere: each key at once, and
/// none of them for us. As it was before, when this goes.
class raw_terminal {
public:
  raw_terminal() = default;
  ~raw_terminal() { leave(); }
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;

  void enter() {
    termios now{};
    if (::tcgetattr(STDIN_FILENO, &now) != 0)
      return;
    if (!before_)
      before_ = now;
    ::cfmakeraw(&now);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
  }
  void leave() {
    if (before_)
      ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
    before_.reset();
  }

private:
  std::optional<termios> before_;
};

class joined_terminals {
public:
  joined_terminals(engine_dialer_ptr engine, std::string target, int keys)
      : dialer_{std::move(engine)}, target_{std::move(target)}, keys_{io_,
                                                                      keys} {
    for (int number :
         {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT})
      signals_.add(number);
  }

  result<attached_end> run() {
    asio::co_spawn(io_, begin(), asio::detached);
    io_.run();
    screen_.leave();
    return outcome_.value_or(fail(ec::internal, "it ended unsaid"));
  }

private:
  using descriptor = asio::posix::stream_descriptor;

  void end(result<attached_end> how) {
    if (!outcome_)
      outcome_ = std::move(how);
    io_.stop();
  }

  asio::awaitable<void> begin() {
    const auto key = random_key();
    auto fields = ws::ask(key);
    auto open = co_await dialer_->upgrade(engine_, target_, std::move(fields));
    if (!open)
      co_return end(open.error());
    if (!ws::is_accepted(open->head, key))
      co_return end(fail(ec::unavailable,
                         "the engine answered as no "
                         "WebSocket does"));
    screen_.enter();
    tell_size();
    asio::co_spawn(io_, pass_keys(), asio::detached);
    asio::co_spawn(io_, obey_signals(), asio::detached);
    co_await hear(std::move(open->rest));
  }

  // -- from the engine -------------------------------------------------------

  asio::awaitable<void> hear(std::string first) {
    reader_.append(first);
    std::vector<char> some(piece_size);
    while (obey_messages()) {
      boost::system::error_code why;
      const auto n = co_await engine_.read(asio::buffer(some), why);
      if (why)
        break;
      reader_.append({some.data(), n});
    }
    end(fail(ec::unavailable, "the connection to the engine is lost"));
  }

  /// False: there will be no more of them.
  bool obey_messages() {
    for (;;) {
      ws::message next;
      switch (reader_.next(next)) {
      case ws::reader::progress::partial:
        return true;
      case ws::reader::progress::broken:
        return false;
      case ws::reader::progress::whole:
        break;
      }
      if (next.what == ws::kind::binary && !show(next.data))
        end(attached_end{nullptr, SIGHUP});
      else if (next.what == ws::kind::text)
        obey(next.data);
      else if (next.what == ws::kind::ping)
        send(ws::kind::pong, next.data);
      else if (next.what == ws::kind::close)
        return false;
    }
  }

  void obey(const std::string& text) {
    auto said = json::parse_object(text);
    if (!said)
      return;
    if (auto* process = said->if_contains("end"))
      end(attached_end{std::move(*process), 0});
  }

  // -- to the engine ---------------------------------------------------------

  void send(ws::kind what, std::string_view bytes) {
    ws::mask mask{};
    random_bytes(mask);
    unsent_.push_back(ws::make_frame(what, bytes, mask));
    if (!std::exchange(writing_, true))
      asio::co_spawn(io_, write_all(), asio::detached);
  }

  asio::awaitable<void> write_all() {
    while (!unsent_.empty()) {
      const auto next = std::move(unsent_.front());
      unsent_.pop_front();
      const std::array<asio::const_buffer, 1> pieces{asio::buffer(next)};
      if (co_await engine_.write(pieces))
        break; // the reading side hears of it, too
      room_.cancel();
    }
    writing_ = false;
  }

  void tell_size() {
    if (auto size = size_of_terminal()) {
      const json::object cells{{"cols", size->columns}, {"rows", size->rows}};
      send(ws::kind::text, json::to_text(json::object{{"resize", cells}}));
    }
  }

  asio::awaitable<void> pass_keys() {
    std::array<char, keys_at_once> some{};
    for (;;) {
      boost::system::error_code why;
      while (unsent_.size() >= most_unsent) {
        room_.expires_after(std::chrono::hours{1});
        co_await room_.async_wait(
          asio::redirect_error(asio::use_awaitable, why));
      }
      const auto n = co_await keys_.async_read_some(
        asio::buffer(some), asio::redirect_error(asio::use_awaitable, why));
      if (why)
        co_return end(attached_end{nullptr, SIGHUP});
      const std::string_view typed{some.data(), n};
      const auto leaves = typed.find(leave_key);
      if (leaves != 0)
        send(ws::kind::binary, typed.substr(0, leaves));
      if (leaves != typed.npos)
        co_return end(attached_end{});
    }
  }

  // -- and what happens here -------------------------------------------------

  asio::awaitable<void> obey_signals() {
    for (;;) {
      boost::system::error_code why;
      const auto number = co_await signals_.async_wait(
        asio::redirect_error(asio::use_awaitable, why));
      if (why)
        co_return;
      if (number == SIGTSTP) {
        screen_.leave();
        ::raise(SIGSTOP);
      } else if (number == SIGCONT || number == SIGWINCH) {
        screen_.enter();
        tell_size();
      } else {
        co_return end(attached_end{nullptr, number});
      }
    }
  }

  asio::io_context io_{1};
  engine_dialer_ptr dialer_;
  const std::string target_;
  descriptor keys_;
  net::client_connection engine_{io_.get_executor()};
  asio::steady_timer room_{io_}; // for keys
  asio::signal_set signals_{io_};
  raw_terminal screen_;
  ws::reader reader_{longest_message, ws::sender::server};
  std::deque<std::string> unsent_;
  bool writing_ = false;
  std::optional<result<attached_end>> outcome_;
};

} // namespace

std::optional<terminal_size> size_of_terminal() {
  winsize size{};
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0
      || size.ws_row == 0)
    return std::nullopt;
  return terminal_size{size.ws_col, size.ws_row};
}

result<attached_end> attach_terminal(engine_dialer_ptr engine,
                                     std::string target) {
  // Opened once more: what is said about waiting for keys is not to be true
  // for others that have the same terminal.
  unique_fd keys{::open("/proc/self/fd/0", O_RDONLY | O_NOCTTY | O_CLOEXEC)};
  if (!keys)
    return fail(ec::unavailable, "cannot read the terminal here");
  joined_terminals both{std::move(engine), std::move(target), keys.release()};
  return both.run();
}

} // namespace troupe
