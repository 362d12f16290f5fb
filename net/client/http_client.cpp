#include "net/client/http_client.hpp"

#include "net/client/client_tls.hpp"
#include "net/client/conversation.hpp"
#include "net/fail.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <tuple>

namespace troupe::net {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

bool called_off(const client_request& request) {
  return request.abort && request.abort->tripped();
}

std::chrono::milliseconds until(steady::time_point deadline) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline
                                                               - steady::now());
}

} // namespace

class http_client::impl
    : public std::enable_shared_from_this<http_client::impl> {
public:
  impl(asio::any_io_executor ex, client_options options)
      : executor_{std::move(ex)}, options_{std::move(options)},
        tls_{make_client_tls(options_.ca_file,
                             {options_.only_certificate,
                              options_.certificate_file, options_.key_file})},
        resolver_{options_.names}, next_look_{executor_} {}

  asio::awaitable<client_exchange> run(client_request request,
                                       stream_reader reader);

  client_counters counters;
  asio::any_io_executor executor_;

private:
  struct host_pool {
    std::deque<client_connection_ptr>
      idle; // the most recently used one in front
    std::size_t open = 0;
  };
  using pool_key = std::tuple<bool, std::string, std::uint16_t, bool>;

  asio::awaitable<result<client_connection_ptr>>
  obtain(const client_request& request, const pool_key& key, bool fresh);
  asio::awaitable<result<client_connection_ptr>>
  open(const client_request& request);
  void give_back(const pool_key& key, client_connection_ptr link,
                 bool reusable);
  void let_go(const pool_key& key);
  void look_for_idle_ones();
  void close_idle_ones();

  asio::awaitable<attempt> once(const client_request& request,
                                const stream_reader& reader, bool fresh);
  client_options options_;
  result<std::shared_ptr<asio::ssl::context>> tls_;
  resolver resolver_;
  std::map<pool_key, host_pool> pools_; // of hosts with connections
  asio::steady_timer next_look_;
  bool looking_ = false;
  std::mt19937_64 random_{std::random_device{}()};
};

// -- connections --------------------------------------------------------------

asio::awaitable<result<client_connection_ptr>>
http_client::impl::open(const client_request& request) {
  if (!tls_)
    co_return tls_.error();
  auto soon
    = std::min(request.deadline, steady::now() + options_.connect_timeout);
  auto places
    = co_await resolver_.resolve(request.service.host, request.service.port,
                                 soon, request.rule, request.abort);
  if (!places)
    co_return places.error();
  auto link = std::make_unique<client_connection>(executor_);
  ++counters.connections_opened;
  auto opened = co_await link->open(request.service, std::move(*places), **tls_,
                                    soon, request.abort);
  if (!opened)
    co_return opened.error();
  co_return std::move(link);
}

asio::awaitable<result<client_connection_ptr>>
http_client::impl::obtain(const client_request& request, const pool_key& key,
                          bool fresh) {
  auto& pool = pools_[key]; // stays: whatever comes, `open` is not 0
  counters.hosts = pools_.size();
  while (!fresh && !pool.idle.empty()) {
    auto link = std::move(pool.idle.front());
    pool.idle.pop_front();
    --counters.connections_idle;
    if (steady::now() - link->idle_since < options_.idle_timeout
        && link->usable()) {
      ++counters.connections_reused;
      co_return std::move(link);
    }
    link->close();
    --pool.open;
  }
  if (pool.open >= options_.max_connections_per_host)
    co_return fail(ec::exhausted,
                   "too many connections to " + request.service.authority());
  ++pool.open;
  auto link = co_await open(request);
  if (!link)
    let_go(key);
  co_return std::move(link);
}

void http_client::impl::give_back(const pool_key& key,
                                  client_connection_ptr link, bool reusable) {
  auto& pool = pools_[key];
  if (reusable && pool.idle.size() < options_.max_idle_per_host) {
    link->never_expires();
    link->idle_since = steady::now();
    pool.idle.push_front(std::move(link));
    ++counters.connections_idle;
    return look_for_idle_ones();
  }
  link->close();
  let_go(key);
}

void http_client::impl::let_go(const pool_key& key) {
  auto found = pools_.find(key);
  if (--found->second.open == 0)
    pools_.erase(found);
  counters.hosts = pools_.size();
}

/// Many a host is never asked again: each sandbox may have names of its own.
void http_client::impl::look_for_idle_ones() {
  if (std::exchange(looking_, true))
    return;
  auto oldest = steady::now();
  for (const auto& [key, pool] : pools_)
    if (!pool.idle.empty())
      oldest = std::min(oldest, pool.idle.back()->idle_since);
  next_look_.expires_at(oldest + options_.idle_timeout);
  next_look_.async_wait([weak = weak_from_this()](const auto& why) {
    if (auto self = why ? nullptr : weak.lock())
      self->close_idle_ones();
  });
}

void http_client::impl::close_idle_ones() {
  looking_ = false;
  auto since = steady::now() - options_.idle_timeout;
  for (auto i = pools_.begin(); i != pools_.end();) {
    auto& pool = i->second;
    while (!pool.idle.empty() && pool.idle.back()->idle_since <= since) {
      pool.idle.back()->close();
      pool.idle.pop_back();
      --pool.open;
      --counters.connections_idle;
    }
    i = pool.open == 0 ? pools_.erase(i) : std::next(i);
  }
  counters.hosts = pools_.size();
  if (counters.connections_idle > 0)
    look_for_idle_ones();
}

// -- one attempt --------------------------------------------------------------

asio::awaitable<attempt> http_client::impl::once(const client_request& request,
                                                 const stream_reader& reader,
                                                 bool fresh) {
  pool_key key{request.service.tls, request.service.host, request.service.port,
               static_cast<bool>(request.rule)};
  auto link = co_await obtain(request, key, fresh);
  if (!link)
    co_return attempt{link.error(), false};
  auto& held = **link;
  attempt out{fail(ec::unavailable, "the request was called off"), false};
  if (request.abort)
    request.abort->arm([&held] { held.close(); });
  if (called_off(request))
    out.reusable = true;
  else
    out = co_await converse(held, request, reader, options_);
  if (request.abort)
    request.abort->disarm();
  give_back(key, std::move(*link), out.reusable);
  co_return out;
}

// -- tries -------------------------------------------------------------------

asio::awaitable<client_exchange> http_client::impl::run(client_request request,
                                                        stream_reader reader) {
  ++counters.requests;
  client_exchange out{
    fail(ec::timeout, "the deadline passed before the first try"), false, 0};
  auto repeatable = !request.body_pieces; // a stream cannot be wound back
  while (until(request.deadline).count() > 0) {
    ++out.tries;
    auto last = co_await once(request, reader, out.tries > 1);
    std::optional<std::chrono::milliseconds> retry_after;
    bool again = false;
    if (last.answer) {
      auto status = last.answer->status;
      again = is_refusal_status(status)
        || (request.idempotent && is_retryable_status(status));
      retry_after = retry_after_of(last.answer->headers,
                                   std::chrono::system_clock::now());
    } else {
      auto code = last.answer.error().code;
      again = code == ec::unavailable && (!last.sent || request.idempotent);
    }
    out.may_have_acted = last.sent;
    out.answer = std::move(last.answer);
    if (!again || !repeatable || called_off(request))
      break;
    std::uniform_real_distribution<double> unit{0, 1};
    auto delay = retry_delay(request.retry, out.tries + 1, unit(random_),
                             retry_after, until(request.deadline));
    if (!delay)
      break;
    ++counters.retries;
    auto on
      = co_await pause(executor_, *delay, request.deadline, request.abort);
    if (!on)
      break;
  }
  if (!out.answer)
    ++counters.failures;
  co_return out;
}

http_client::http_client(asio::any_io_executor executor, client_options options)
    : impl_{std::make_shared<impl>(std::move(executor), std::move(options))} {}

http_client::~http_client() = default;

asio::awaitable<client_exchange> http_client::send(client_request request) {
  return stream(std::move(request), stream_reader{});
}

asio::awaitable<client_exchange> http_client::stream(client_request request,
                                                     stream_reader reader) {
  auto keep = impl_;
  auto out = co_await keep->run(std::move(request), std::move(reader));
  co_return out;
}

const client_counters& http_client::counters() const {
  return impl_->counters;
}

std::shared_ptr<client_counters> http_client::shared_counters() const {
  return {impl_, &impl_->counters};
}

asio::any_io_executor http_client::executor() const {
  return impl_->executor_;
}

} // namespace troupe::net
