#include "net/client/http_client.hpp"

#include "net/client/client_tls.hpp"
#include "net/client/connection_pool.hpp"
#include "net/client/exchange.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace troupe::net {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

bool called_off(const client_request& request) {
  return request.abort && request.abort->cancelled();
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
        resolver_{options_.names}, pool_{{options_.max_connections_per_host,
                                          options_.max_idle},
                                         counters},
        next_look_{executor_} {}

  asio::awaitable<client_exchange> run(client_request request,
                                       stream_reader reader);

  client_counters counters;
  asio::any_io_executor executor_;

private:
  asio::awaitable<result<client_connection_ptr>>
  obtain(const client_request& request, const connection_pool::key& key,
         bool fresh);
  asio::awaitable<result<client_connection_ptr>>
  open(const client_request& request);
  void give_back(const connection_pool::key& key, client_connection_ptr link,
                 bool reusable);
  void look_for_idle_ones();
  void close_idle_ones();

  asio::awaitable<attempt> once(const client_request& request,
                                const stream_reader& reader, bool fresh);
  client_options options_;
  result<std::shared_ptr<asio::ssl::context>> tls_;
  resolver resolver_;
  connection_pool pool_;
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
  result<resolver::endpoints> places = resolver::endpoints{};
  if (request.service.socket.empty())
    places
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
http_client::impl::obtain(const client_request& request,
                          const connection_pool::key& key, bool fresh) {
  auto link
    = fresh ? nullptr : pool_.take(key, steady::now() - options_.idle_timeout);
  if (link) {
    ++counters.connections_reused;
    co_return std::move(link);
  }
  if (!pool_.reserve(key))
    co_return fail(ec::exhausted,
                   "too many connections to " + request.service.authority());
  auto opened = co_await open(request);
  if (!opened)
    pool_.let_go(key);
  co_return std::move(opened);
}

void http_client::impl::give_back(const connection_pool::key& key,
                                  client_connection_ptr link, bool reusable) {
  if (reusable) {
    link->never_expires();
    pool_.keep(key, std::move(link));
    return look_for_idle_ones();
  }
  link->close();
  pool_.let_go(key);
}

/// Many a host is never asked again: each sandbox may have names of its own.
void http_client::impl::look_for_idle_ones() {
  auto oldest = pool_.oldest();
  if (!oldest || std::exchange(looking_, true))
    return;
  next_look_.expires_at(*oldest + options_.idle_timeout);
  next_look_.async_wait([weak = weak_from_this()](const auto& why) {
    if (auto self = why ? nullptr : weak.lock())
      self->close_idle_ones();
  });
}

void http_client::impl::close_idle_ones() {
  looking_ = false;
  pool_.close_unused_since(steady::now() - options_.idle_timeout);
  look_for_idle_ones();
}

// -- one attempt --------------------------------------------------------------

asio::awaitable<attempt> http_client::impl::once(const client_request& request,
                                                 const stream_reader& reader,
                                                 bool fresh) {
  const auto& service = request.service;
  connection_pool::key key{
    service.tls, service.socket.empty() ? service.host : service.socket,
    service.port, static_cast<bool>(request.rule)};
  auto link = co_await obtain(request, key, fresh);
  if (!link)
    co_return attempt{link.error(), false};
  auto& held = **link;
  attempt out{fail(ec::unavailable, "the request was cancelled"), false};
  if (request.abort)
    request.abort->on_cancel([&held] { held.close(); });
  if (called_off(request))
    out.reusable = true;
  else
    out = co_await converse(held, request, reader, options_);
  if (request.abort)
    request.abort->clear();
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
  auto policy = options_.retry;
  policy.tries = request.tries.value_or(policy.tries);
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
    auto delay = retry_delay(policy, out.tries + 1, unit(random_), retry_after,
                             until(request.deadline));
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
