#include "runtime/local/sandbox/hand_client.hpp"

#include "runtime/base/packet_socket.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <poll.h>

#include <functional>
#include <iterator>

namespace troupe {

namespace asio = boost::asio;

namespace {

constexpr std::size_t max_listed = 100'001; // one more than may be shown

error lost_hand() {
  return fail(
    ec::unavailable,
    "the file work in the sandbox was broken off: another process of "
    "it ended the one that does it, or it has as many processes as it "
    "may have");
}

} // namespace

hand_client::hand_client(asio::any_io_executor executor,
                         std::shared_ptr<living_sandbox> sandbox,
                         living_sandbox::hand_socket socket)
    : sandbox_{std::move(sandbox)}, ticket_{socket.ticket},
      socket_{std::make_shared<asio::posix::stream_descriptor>(
        std::move(executor), socket.socket.release())} {}

hand_client::~hand_client() {
  if (broken_)
    sandbox_->end_hand(ticket_);
}

bool hand_client::is_usable() {
  // Nor has it said more than it was asked.
  pollfd look{socket_->native_handle(), POLLIN, 0};
  return !broken_ && ::poll(&look, 1, 0) == 0;
}

asio::awaitable<result<void>> hand_client::wait_for_answer(call_scope scope) {
  const std::function<void()> end_wait
    = [weak = std::weak_ptr<asio::posix::stream_descriptor>{socket_}] {
        if (auto socket = weak.lock())
          socket->cancel();
      };
  asio::steady_timer clock{socket_->get_executor(), scope.deadline};
  clock.async_wait([end_wait](boost::system::error_code code) {
    if (!code)
      end_wait();
  });
  if (scope.cancel)
    scope.cancel->on_cancel(end_wait);
  boost::system::error_code code;
  // The timer of an earlier wait may still end this one: it is begun again.
  do {
    if (is_cancelled(scope)
        || std::chrono::steady_clock::now() >= scope.deadline)
      break;
    co_await socket_->async_wait(
      asio::posix::stream_descriptor::wait_read,
      asio::redirect_error(asio::use_awaitable, code));
  } while (code == asio::error::operation_aborted);
  if (scope.cancel)
    scope.cancel->clear();
  if (code || is_cancelled(scope)
      || std::chrono::steady_clock::now() >= scope.deadline)
    co_return not_in_time(scope, "the file work");
  co_return result<void>{};
}

asio::awaitable<result<hand_answer>>
hand_client::ask(inside::hand_message question, unique_fd content,
                 call_scope scope) {
  broken_ = true; // until it has answered
  hand_answer answer;
  const int file = content.get();
  const auto bytes = encode(question);
  const auto sent = send_packet(
    socket_->native_handle(), bytes,
    std::span<const int>{&file, static_cast<std::size_t>(file >= 0)});
  was_gone_ = sent == packet_status::closed;
  if (sent != packet_status::done)
    co_return lost_hand();
  for (;;) {
    auto heard = co_await hear(scope);
    if (!heard)
      co_return heard.error();
    auto& m = heard->said;
    if (m.what == inside::hand_word::entries)
      std::move(m.entries.begin(), m.entries.end(),
                std::back_inserter(answer.entries));
    else if (m.what == inside::hand_word::matches)
      std::move(m.matches.begin(), m.matches.end(),
                std::back_inserter(answer.matches));
    else if (m.what != inside::hand_word::done)
      co_return lost_hand();
    if (answer.entries.size() >= max_listed
        || answer.matches.size() >= max_listed)
      co_return answer; // and the hand, which goes on, is ended
    if (m.what != inside::hand_word::done)
      continue;
    broken_ = false;
    answer.done = std::move(m);
    answer.file = std::move(heard->file);
    co_return answer;
  }
}

asio::awaitable<result<hand_client::heard_message>>
hand_client::hear(call_scope scope) {
  for (;;) {
    if (auto there = co_await wait_for_answer(scope); !there)
      co_return there.error();
    packet some;
    const auto got
      = receive_packet(socket_->native_handle(), inside::max_hand_packet,
                       inside::max_hand_descriptors, some);
    if (got == packet_status::later)
      continue;
    has_ended_ = got == packet_status::closed;
    heard_message heard;
    if (got != packet_status::done || !decode(some.bytes, heard.said))
      co_return sandbox_->is_over()
        ? fail(ec::unavailable, "the sandbox has ended")
        : lost_hand();
    if (!some.descriptors.empty())
      heard.file = std::move(some.descriptors.front());
    co_return heard;
  }
}

asio::awaitable<result<std::vector<inside::hand_event>>>
hand_client::next_events() {
  broken_ = true; // it is ended with us, whatever it does
  call_scope ever{std::chrono::steady_clock::time_point::max(), {}};
  auto heard = co_await hear(std::move(ever));
  if (!heard && has_ended_ && !sandbox_->is_over())
    co_return fail(ec::unavailable, "what was watched is gone");
  if (!heard)
    co_return heard.error();
  if (heard->said.what != inside::hand_word::events)
    co_return lost_hand();
  co_return std::move(heard->said.events);
}

void hand_client::stop() {
  stopped_ = true;
  boost::system::error_code ignored;
  socket_->close(ignored);
}

} // namespace troupe
