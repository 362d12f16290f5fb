// The ports inside of sandboxes of this machine: the keeper connects, in the
// network of its sandbox, and the engine gets the socket.
#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

using std::chrono::steady_clock;

/// How long after a process was begun its server may take to listen, and how
/// often it is asked for meanwhile.
constexpr std::chrono::seconds time_to_listen{2};
constexpr std::chrono::milliseconds between_tries{20};

error no_connection(std::uint16_t port, int number) {
  if (number == ECONNREFUSED)
    return fail(ec::conflict,
                "nothing in the sandbox listens on port "
                  + std::to_string(port));
  return fail(number == EMFILE || number == ENFILE || number == ENOBUFS
                ? ec::exhausted
                : ec::unavailable,
              "connect to port " + std::to_string(port)
                + " in the sandbox: " + std::strerror(number));
}

bool is_writable(const unique_fd& socket) {
  pollfd look{socket.get(), POLLOUT, 0};
  return ::poll(&look, 1, 0) == 1;
}

/// What became of a connection that is settled: errno.
int error_of(const unique_fd& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    return errno;
  return error;
}

} // namespace

asio::awaitable<result<living_sandbox::keeper_answer>>
local_sandboxes::ask(std::shared_ptr<living_sandbox> sandbox,
                     inside::keeper_message question, call_scope scope) {
  using heard = std::optional<result<living_sandbox::keeper_answer>>;
  auto said = std::make_shared<call_wait>(executor_);
  auto answer = std::make_shared<heard>();
  living_sandbox::answered then
    = [said, answer](result<living_sandbox::keeper_answer> came) {
        *answer = std::move(came);
        said->tell();
      };
  if (auto asked = sandbox->ask(std::move(question), std::move(then)); !asked)
    co_return asked.error();
  const bool told = co_await said->wait(scope);
  if (!told)
    co_return not_in_time(scope, "the sandbox's answer");
  co_return std::move(**answer);
}

/// A server whose queue is full makes its clients wait.
asio::awaitable<result<void>>
local_sandboxes::wait_until_writable(const unique_fd& socket,
                                     call_scope scope) {
  const int copy = ::fcntl(socket.get(), F_DUPFD_CLOEXEC, 3);
  if (copy < 0)
    co_return fail(ec::exhausted, "no descriptors are left");
  auto watched
    = std::make_shared<asio::posix::stream_descriptor>(executor_, copy);
  asio::steady_timer clock{executor_, scope.deadline};
  clock.async_wait([watched](boost::system::error_code code) {
    if (!code)
      watched->cancel();
  });
  if (scope.cancel)
    scope.cancel->on_cancel([watched] { watched->cancel(); });
  boost::system::error_code code;
  co_await watched->async_wait(asio::posix::stream_descriptor::wait_write,
                               asio::redirect_error(asio::use_awaitable, code));
  if (scope.cancel)
    scope.cancel->clear();
  if (code)
    co_return not_in_time(scope, "the server's answer");
  co_return result<void>{};
}

asio::awaitable<result<unique_fd>>
local_sandboxes::connect(const sandbox_handle& sandbox, std::uint16_t port,
                         call_scope scope) {
  auto self = shared_from_this();
  auto found = find(sandbox);
  if (!found)
    co_return found.error();
  auto living = (*found)->sandbox;
  const auto patient_until = living->last_begun() + time_to_listen;
  for (;;) {
    inside::keeper_message question;
    question.what = inside::keeper_word::connect;
    question.port = port;
    auto came = co_await ask(living, std::move(question), scope);
    if (!came)
      co_return came.error();
    int error = came->said.error;
    auto socket = std::move(came->file);
    if (error == 0 && !socket)
      co_return fail(ec::unavailable, "the sandbox gave no socket");
    if (error == 0 && !is_writable(socket)) {
      auto settled = co_await wait_until_writable(socket, scope);
      if (!settled)
        co_return settled.error();
    }
    if (error == 0)
      error = error_of(socket);
    if (error == 0)
      co_return std::move(socket);
    const auto now = steady_clock::now();
    if (error != ECONNREFUSED || now >= patient_until || is_cancelled(scope)
        || now >= scope.deadline)
      co_return no_connection(port, error);
    asio::steady_timer pause{executor_, between_tries};
    boost::system::error_code ignored;
    co_await pause.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<result<std::vector<std::uint16_t>>>
local_sandboxes::ports(const sandbox_handle& sandbox, call_scope scope) {
  auto self = shared_from_this();
  auto found = find(sandbox);
  if (!found)
    co_return found.error();
  inside::keeper_message question;
  question.what = inside::keeper_word::ports;
  auto living = (*found)->sandbox;
  auto came = co_await ask(living, std::move(question), std::move(scope));
  if (!came)
    co_return came.error();
  if (came->said.error != 0)
    co_return fail(ec::unavailable,
                   std::string{"list the ports of the sandbox: "}
                     + std::strerror(came->said.error));
  co_return std::move(came->said.ports);
}

} // namespace troupe
