#include "net/client/resolver.hpp"

#include "runtime/base/error.hpp"
#include "runtime/model/address.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <netdb.h>

#include <algorithm>
#include <memory>

namespace troupe::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

bool is_tripped(const std::shared_ptr<cancellation>& abort) {
  return abort && abort->cancelled();
}

} // namespace

/// What a lookup thread leaves for the coroutine, which may be gone by then.
struct resolver::lookup {
  explicit lookup(asio::any_io_executor ex) : wake{ex} {}

  asio::steady_timer wake;
  bool ended = false;
  answer told;
};

namespace {

resolver::answer ask_system(const std::string& host, std::uint16_t port) {
  resolver::answer out;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  auto service = std::to_string(port);
  out.status = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &list);
  for (auto* i = list; out.status == 0 && i; i = i->ai_next) {
    tcp::endpoint e;
    if (i->ai_addrlen > e.capacity())
      continue;
    std::copy_n(reinterpret_cast<const char*>(i->ai_addr), i->ai_addrlen,
                reinterpret_cast<char*>(e.data()));
    e.resize(i->ai_addrlen);
    out.found.push_back(e);
  }
  if (list)
    ::freeaddrinfo(list);
  return out;
}

} // namespace

resolver::resolver(names ask, std::size_t threads)
    : ask_{std::make_shared<const names>(ask ? std::move(ask)
                                             : names{ask_system})},
      pool_{threads} {}

std::shared_ptr<resolver::lookup> resolver::begin(asio::any_io_executor ex,
                                                  std::string host,
                                                  std::uint16_t port) {
  auto state = std::make_shared<lookup>(ex);
  auto work = [state, host = std::move(host), port, ex, ask = ask_] {
    auto hand_over = [state, told = (*ask)(host, port)]() mutable {
      state->told = std::move(told);
      state->ended = true;
      state->wake.cancel();
    };
    asio::post(ex, std::move(hand_over));
  };
  asio::post(pool_, std::move(work));
  return state;
}

bool is_public_address(const asio::ip::address& address) {
  ip_address plain;
  plain.v6 = address.is_v6();
  if (plain.v6)
    plain.bytes = address.to_v6().to_bytes();
  else
    std::ranges::copy(address.to_v4().to_bytes(), plain.bytes.begin());
  return is_public(plain);
}

asio::awaitable<result<resolver::endpoints>>
resolver::resolve(std::string host, std::uint16_t port,
                  std::chrono::steady_clock::time_point deadline,
                  address_rule rule, std::shared_ptr<cancellation> abort) {
  auto ex = co_await asio::this_coro::executor;
  auto state = begin(ex, host, port);
  state->wake.expires_at(deadline);
  boost::system::error_code woken;
  if (abort)
    abort->on_cancel([state] { state->wake.cancel(); });
  if (!is_tripped(abort))
    co_await state->wake.async_wait(
      asio::redirect_error(asio::use_awaitable, woken));
  if (abort)
    abort->clear();
  if (is_tripped(abort))
    co_return fail(ec::unavailable, "called off");
  if (!state->ended)
    co_return fail(ec::timeout,
                   "the name '" + host + "' was not resolved in time");
  if (state->told.status != 0)
    co_return fail(ec::unavailable,
                   "the name '" + host + "' does not resolve: "
                     + ::gai_strerror(state->told.status));
  endpoints allowed;
  for (const auto& e : state->told.found)
    if (!rule || rule(e.address()))
      allowed.push_back(e);
  if (allowed.empty())
    co_return fail(ec::denied,
                   "'" + host
                     + "' resolves to private addresses only; configure the "
                       "address itself or set allow-private-addresses");
  co_return allowed;
}

} // namespace troupe::net
