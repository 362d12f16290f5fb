#include "net/grpc/grpc_channel.hpp"

#include "runtime/base/error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>

namespace troupe::net {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t read_piece_bytes = 32u << 10;

grpc_reply not_sent(const error& why) {
  grpc_reply r;
  r.status.code = why.code == ec::timeout ? grpc_code::deadline_exceeded
                                          : grpc_code::unavailable;
  r.status.message = why.text;
  return r;
}

} // namespace

/// One connection with its session. Ends when the connection does; calls that
/// are on it are then told.
struct grpc_channel::link {
  explicit link(asio::any_io_executor ex) : io{ex}, heard{ex} {}

  client_connection io;
  http2_session session;
  bool writing = false;
  bool dead = false;
  steady::time_point heard_at = steady::now();
  asio::steady_timer heard; // wakes the watch when the link dies

  void die() {
    if (std::exchange(dead, true))
      return;
    io.close();
    heard.cancel();
    session.fail_all();
  }
};

grpc_channel::grpc_channel(asio::any_io_executor executor, base_url service,
                           std::shared_ptr<asio::ssl::context> tls,
                           std::shared_ptr<resolver> names, address_rule rule,
                           channel_options options)
    : executor_{executor}, service_{std::move(service)}, tls_{std::move(tls)},
      names_{std::move(names)}, rule_{std::move(rule)},
      options_{std::move(options)}, connect_ended_{executor} {
  connect_ended_.expires_at(steady::time_point::max());
}

// -- the connection ----------------------------------------------------------

asio::awaitable<result<grpc_channel::link_ptr>>
grpc_channel::connect(steady::time_point deadline) {
  auto soon = std::min(deadline, steady::now() + options_.connect_timeout);
  auto places = co_await names_->resolve(service_.host, service_.port, soon,
                                         rule_, closed_);
  if (!places)
    co_return places.error();
  auto l = std::make_shared<link>(executor_);
  count(&client_counters::connections_opened);
  auto opened = co_await l->io.open(service_, std::move(*places), *tls_, soon,
                                    closed_, wire_protocol::http2);
  if (!opened)
    co_return opened.error();
  l->io.never_expires();
  asio::co_spawn(executor_, read(l), asio::detached);
  asio::co_spawn(executor_, watch(l, options_), asio::detached);
  flush(l);
  co_return l;
}

/// Of those that take more calls; nothing when there is none.
grpc_channel::link_ptr grpc_channel::least_busy() {
  std::erase_if(links_, [](const link_ptr& l) {
    return l->dead || (l->session.draining() && l->session.streams() == 0);
  });
  link_ptr best;
  for (const auto& l : links_)
    if (!l->session.draining()
        && (!best || l->session.streams() < best->session.streams()))
      best = l;
  return best;
}

/// Many calls wait for one connection; who comes first opens it.
asio::awaitable<result<grpc_channel::link_ptr>>
grpc_channel::connected(steady::time_point deadline) {
  auto keep = shared_from_this();
  boost::system::error_code ignored;
  auto opened = false;
  for (;;) {
    if (closed_->cancelled())
      co_return fail(ec::unavailable, "the channel was closed");
    auto best = least_busy();
    if (best
        && (best->session.streams() < options_.calls_per_connection
            || links_.size() >= options_.max_connections)) {
      if (!opened)
        count(&client_counters::connections_reused);
      co_return best;
    }
    if (steady::now() >= deadline)
      co_return fail(ec::timeout, "the deadline passed");
    if (connecting_) {
      co_await connect_ended_.async_wait(
        asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    connecting_ = true;
    auto l = co_await connect(deadline);
    connecting_ = false;
    connect_ended_.cancel();
    if (!l && !best)
      co_return l.error();
    if (!l) // it has to wait there for its turn
      co_return best;
    links_.push_back(*l);
    opened = true;
  }
}

asio::awaitable<void> grpc_channel::read(link_ptr l) {
  std::string piece(read_piece_bytes, '\0');
  boost::system::error_code why;
  while (!l->dead) {
    auto n = co_await l->io.read(asio::buffer(piece), why);
    if (why || l->dead)
      break;
    l->heard_at = steady::now();
    if (auto taken = l->session.receive({piece.data(), n}); !taken)
      break;
    flush(l);
  }
  l->die();
}

void grpc_channel::flush(const link_ptr& l) {
  if (l->writing || l->dead)
    return;
  l->writing = true;
  asio::co_spawn(l->io.executor(), write(l), asio::detached);
}

asio::awaitable<void> grpc_channel::write(link_ptr l) {
  while (!l->dead) {
    auto bytes = l->session.pending();
    if (bytes.empty())
      break;
    std::array<asio::const_buffer, 1> all{asio::buffer(bytes)};
    auto why = co_await l->io.write(all);
    if (why) {
      l->die();
      break;
    }
  }
  l->writing = false;
}

/// Asks a silent peer whether it is still there, and hangs up when it is not.
asio::awaitable<void> grpc_channel::watch(link_ptr l, channel_options o) {
  boost::system::error_code ignored;
  while (!l->dead) {
    auto asked = steady::now() - l->heard_at >= o.ping_every;
    if (asked) {
      l->session.ping();
      flush(l);
    }
    l->heard.expires_at(asked ? steady::now() + o.ping_patience
                              : l->heard_at + o.ping_every);
    auto before = l->heard_at;
    co_await l->heard.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
    if (asked && l->heard_at == before)
      l->die();
  }
}

void grpc_channel::close() {
  closed_->cancel();
  for (auto& l : std::exchange(links_, {}))
    l->die();
}

// -- calls -------------------------------------------------------------------

asio::awaitable<grpc_reply> grpc_channel::call(grpc_call what) {
  auto keep = shared_from_this();
  count(&client_counters::requests);
  auto l = co_await connected(what.deadline);
  if (!l) {
    count(&client_counters::failures);
    co_return not_sent(l.error());
  }
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
    what.deadline - steady::now());
  if (left.count() <= 0 || (what.abort && what.abort->cancelled()))
    co_return not_sent(fail(ec::timeout, "no time left for the call"));

  auto stream = std::make_shared<http2_stream>();
  stream->request = {{":method", "POST"},
                     {":scheme", service_.tls ? "https" : "http"},
                     {":path", what.path},
                     {":authority", service_.authority()},
                     {"content-type", "application/grpc"},
                     {"te", "trailers"},
                     {"user-agent", options_.user_agent}};
  if (!what.traceparent.empty())
    stream->request.emplace_back("traceparent", what.traceparent);
  for (auto& h : what.metadata)
    stream->request.push_back(std::move(h));
  stream->body = grpc_frame(what.message);

  auto ended = std::make_shared<asio::steady_timer>(executor_);
  ended->expires_at(what.deadline);
  grpc_reader messages{options_.max_message_bytes};
  result<void> fed;
  auto enough = false;
  stream->data = [&](std::string_view bytes) {
    if (!fed || enough)
      return;
    fed = messages.feed(bytes, [&](std::string_view m) {
      if (!enough && what.on_message && !what.on_message(m))
        enough = true;
    });
    if (!fed || enough)
      ended->cancel();
  };
  auto closed = false;
  stream->closed = [&closed, ended](const http2_stream&) {
    closed = true;
    ended->cancel();
  };
  auto id = (*l)->session.open(stream);
  if (!id)
    co_return not_sent(id.error());
  if (what.abort)
    what.abort->on_cancel([ended] { ended->cancel(); });
  flush(*l);
  boost::system::error_code ignored;
  if (!closed)
    co_await ended->async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
  if (what.abort)
    what.abort->clear();
  // From here on nobody may touch what lives in this frame.
  stream->data = nullptr;
  stream->closed = nullptr;
  grpc_reply reply;
  reply.may_have_acted = true;
  if (!closed) {
    (*l)->session.cancel(*id);
    flush(*l);
    reply.status.code = steady::now() >= what.deadline
      ? grpc_code::deadline_exceeded
      : grpc_code::cancelled;
    if (!fed) // the same would come again
      reply.status = {grpc_code::data_loss, fed.error().text, {}};
    co_return reply;
  }
  if (stream->head.empty())
    count(&client_counters::failures);
  reply.status = read_grpc_status(stream->head, stream->reset);
  reply.may_have_acted = !stream->refused;
  if (reply.status.ok() && !messages.at_border())
    reply.status = {grpc_code::internal, "the reply was cut off", {}};
  co_return reply;
}

} // namespace troupe::net
