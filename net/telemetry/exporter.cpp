#include "net/telemetry/exporter.hpp"

#include "net/client/http_client.hpp"
#include "net/http/request.hpp"
#include "net/http/url.hpp"
#include "runtime/async/watchdog.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics_writer.hpp"
#include "runtime/model/ids.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

namespace troupe::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t largest_reply = 64u << 10; // only its status counts

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

result<http::fields> read_headers(std::string_view text) {
  http::fields out;
  while (!text.empty()) {
    auto item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    auto equals = item.find('=');
    auto name = trim(item.substr(0, equals));
    auto value = equals == item.npos
      ? std::nullopt
      : percent_decode(trim(item.substr(equals + 1)));
    if (name.empty() || !value || !is_plain(*value) || !is_plain(name)
        || name.find_first_of(" :") != name.npos)
      return bad_field("telemetry.otlp-headers", "is not a list of headers",
                       "write name=value,name=value");
    out.set(name, *value);
  }
  return out;
}

} // namespace

struct span_exporter::state {
  exporter_options options;
  base_url service;
  http::fields headers;
  const std::string instance = make_uuid();

  asio::io_context io{1};
  std::unique_ptr<http_client> client;
  asio::steady_timer timer{io};
  asio::steady_timer last{io};
  std::thread thread;
  watchdog::watched watched;

  std::mutex mutex;
  std::deque<span> queue;
  bool stopping = false;
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> failed{0};
  bool complained = false; // once per outage is enough

  std::vector<span> take();
  asio::awaitable<void> send(std::vector<span> spans);
  asio::awaitable<void> work();
};

std::vector<span> span_exporter::state::take() {
  std::lock_guard lock{mutex};
  std::vector<span> out;
  while (!queue.empty() && out.size() < options.batch) {
    out.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return out;
}

asio::awaitable<void> span_exporter::state::send(std::vector<span> spans) {
  client_request request;
  request.service = service;
  request.method = http::verb::post;
  request.target = "/v1/traces";
  request.headers = headers;
  request.headers.set(http::field::content_type, "application/json");
  request.body = to_otlp_json(spans, instance);
  request.deadline = std::chrono::steady_clock::now() + options.timeout;
  request.max_body_bytes = largest_reply;
  request.idempotent = true; // a collector knows spans by their ids
  auto done = co_await client->send(std::move(request));
  bool good = done.answer && done.answer->ok();
  (good ? sent : failed) += spans.size();
  if (!good && !complained)
    log::warning("trace export failed",
                 {{"reason",
                   done.answer ? "the collector rejected them"
                               : std::string_view{done.answer.error().text}}});
  complained = !good;
}

asio::awaitable<void> span_exporter::state::work() {
  for (;;) {
    auto spans = take();
    if (!spans.empty()) {
      co_await send(std::move(spans));
      continue;
    }
    {
      std::lock_guard lock{mutex};
      if (stopping)
        break;
    }
    timer.expires_after(options.pause);
    boost::system::error_code ignored;
    co_await timer.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
  }
  io.stop(); // idle connections to the collector would keep it running
}

span_exporter::span_exporter(std::unique_ptr<state> s) : state_{std::move(s)} {
  asio::co_spawn(state_->io, state_->work(), asio::detached);
  state_->thread = std::thread{[raw = state_.get()] { raw->io.run(); }};
  if (auto* watch = state_->options.watch)
    state_->watched = watch->turns("telemetry", state_->io.get_executor());
}

result<std::unique_ptr<span_exporter>>
span_exporter::open(exporter_options options) {
  auto service = parse_base_url(options.endpoint);
  if (!service)
    return std::move(service).error().within("telemetry.otlp-endpoint");
  auto headers = read_headers(options.headers.reveal());
  if (!headers)
    return headers.error();
  auto s = std::make_unique<state>();
  s->options = std::move(options);
  s->service = std::move(*service);
  s->headers = std::move(*headers);
  s->client
    = std::make_unique<http_client>(s->io.get_executor(), client_options{});
  return std::unique_ptr<span_exporter>{new span_exporter{std::move(s)}};
}

span_exporter::~span_exporter() {
  state_->watched.stop();
  {
    std::lock_guard lock{state_->mutex};
    state_->stopping = true;
  }
  asio::post(state_->io, [raw = state_.get()] {
    raw->timer.cancel();
    // A collector that does not answer must not hold the engine.
    raw->last.expires_after(raw->options.timeout);
    raw->last.async_wait([raw](boost::system::error_code why) {
      if (!why)
        raw->io.stop();
    });
  });
  state_->thread.join();
}

void span_exporter::add(span s) noexcept {
  try {
    std::lock_guard lock{state_->mutex};
    if (state_->queue.size() < state_->options.queue && !state_->stopping) {
      state_->queue.push_back(std::move(s));
      return;
    }
  } catch (...) { // no memory: the same as no room
  }
  ++state_->dropped;
}

std::string span_exporter::metrics() const {
  metrics_writer out;
  out.head("troupe_telemetry_spans_total", "counter", "Spans by outcome.");
  auto line = [&](std::string_view outcome, std::uint64_t n) {
    out.line("troupe_telemetry_spans_total",
             metrics_writer::label("outcome", outcome), n);
  };
  line("sent", state_->sent);
  line("dropped", state_->dropped);
  line("failed", state_->failed);
  return out.take();
}

} // namespace troupe::net
