#include "app/logging/logging.hpp"

#include "app/logging/line_writer.hpp"
#include "app/logging/log_line.hpp"
#include "runtime/base/metrics_writer.hpp"
#include "runtime/settings/key.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <variant>
#include <vector>

namespace troupe {

namespace {

constexpr std::size_t shortest_hidden = 6;

/// Texts that must not be seen, the longest first: a short one that is part of
/// a longer one must not tear that apart and leave its rest.
class mask {
public:
  void add(const secret& value) {
    if (value.size() < shortest_hidden)
      return;
    std::unique_lock guard{mutex_};
    const auto place = std::ranges::find_if(hidden_, [&](const secret& known) {
      return known.size() < value.size() || known == value;
    });
    if (place == hidden_.end() || !(*place == value))
      hidden_.insert(place, value);
  }

  std::string over(std::string_view text) const {
    std::string out{text};
    std::shared_lock guard{mutex_};
    for (auto& value : hidden_)
      for (std::size_t at = 0; (at = out.find(value.reveal(), at)) != out.npos;
           at += 3)
        out.replace(at, value.size(), "***");
    return out;
  }

private:
  mutable std::shared_mutex mutex_;
  std::vector<secret> hidden_;
};

std::string rendered(const logging_options& o, log::level l,
                     std::string_view text, std::span<const log::field> more) {
  auto now = std::chrono::system_clock::now();
  return o.json ? json_line(now, l, text, more)
                : text_line(now, l, text, more, o.color);
}

/// The end of spdlog's queue: runs on its one thread.
class line_sink final
    : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
  line_sink(const logging_options& options) : options_{options} {}

  /// A plain pointer: a shared one, taken on the pool's own thread, could be
  /// the last, and the pool would wait for itself.
  void watch(spdlog::details::thread_pool* queue) { queue_ = queue; }

  std::uint64_t dropped() const noexcept {
    return writer_.lost() + overrun_.load();
  }

  std::uint64_t flushed() const {
    std::lock_guard guard{flush_mutex_};
    return flushed_;
  }
  void wait_for_flush(std::uint64_t number) {
    std::unique_lock lock{flush_mutex_};
    // The request itself may have been pushed out of a full queue.
    flush_done_.wait_for(lock, std::chrono::seconds{5},
                         [&] { return flushed_ >= number; });
  }

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string_view line{message.payload.data(), message.payload.size()};
    overrun_ = queue_->overrun_counter();
    if (writer_.write(line))
      report();
  }
  void flush_() override {
    overrun_ = queue_->overrun_counter();
    std::lock_guard guard{flush_mutex_};
    ++flushed_;
    flush_done_.notify_all();
  }

private:
  void report() {
    auto all = dropped();
    if (all == reported_)
      return;
    auto count = std::to_string(all - reported_);
    log::field how_many{"count", count};
    auto line = rendered(options_, log::level::warning,
                         "log lines dropped, reader too slow", {&how_many, 1});
    if (writer_.write(line))
      reported_ = all;
  }

  logging_options options_;
  line_writer writer_{options_.fd};
  spdlog::details::thread_pool* queue_ = nullptr;
  std::atomic<std::uint64_t> overrun_{0};
  std::uint64_t reported_ = 0;
  mutable std::mutex flush_mutex_;
  std::condition_variable flush_done_;
  std::uint64_t flushed_ = 0;
};

/// A write to a closed pipe must end in EPIPE, whatever the process thinks
/// of SIGPIPE.
void block_sigpipe() {
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
}

log::level level_from(std::string_view text) {
  using enum log::level;
  for (auto l : {debug, info, warning, error})
    if (log::to_string(l) == text)
      return l;
  return off;
}

} // namespace

struct logging::state {
  explicit state(const logging_options& o)
      : options{o}, sink{std::make_shared<line_sink>(o)},
        queue{std::make_shared<spdlog::details::thread_pool>(o.queue, 1,
                                                             block_sigpipe)},
        logger{std::make_shared<spdlog::async_logger>(
          "troupe", sink, queue,
          spdlog::async_overflow_policy::overrun_oldest)} {
    sink->watch(queue.get());
    logger->set_level(spdlog::level::trace);
    logger->set_error_handler([](const std::string&) {});
  }

  void write(log::level l, std::string_view text, log::fields more) {
    // Masked before they are rendered: an escape would hide a secret from us.
    std::vector<std::string> values;
    for (auto& f : more)
      values.push_back(hidden.over(f.value));
    std::vector<log::field> masked;
    for (std::size_t i = 0; i < values.size(); ++i)
      masked.push_back({more.begin()[i].name, values[i]});
    auto line = rendered(options, l, hidden.over(text), masked);
    logger->log(spdlog::level::info,
                spdlog::string_view_t{line.data(), line.size()});
  }

  void flush() {
    auto next = sink->flushed() + 1;
    logger->flush();
    sink->wait_for_flush(next);
  }

  logging_options options;
  std::shared_ptr<line_sink> sink;
  std::shared_ptr<spdlog::details::thread_pool> queue;
  std::shared_ptr<spdlog::async_logger> logger;
  mask hidden;

  // A sink of runtime/base/log.hpp is a plain function, so its state is global.
  // The lock keeps the state alive while somebody is in `write`.
  static inline std::shared_mutex guard;
  static inline state* current = nullptr;

  static void receive(log::level l, std::string_view text,
                      log::fields more) noexcept {
    try {
      std::shared_lock lock{guard};
      if (current)
        current->write(l, text, more);
    } catch (...) {
      // Out of memory: a lost line is the least of our worries.
    }
  }
};

logging_options logging_options::from(const settings& s, int fd) {
  logging_options o;
  auto terminal = ::isatty(fd) == 1;
  auto no_color = std::getenv("NO_COLOR");
  o.least = level_from(s.log.level);
  o.json = s.log.format == "json" || (s.log.format == "auto" && !terminal);
  o.color = terminal && !(no_color && *no_color);
  o.queue = s.log.queue;
  o.fd = fd;
  return o;
}

logging::logging(const logging_options& options)
    : state_{std::make_unique<state>(options)} {
  {
    std::unique_lock lock{state::guard};
    state::current = state_.get();
  }
  log::connect(state::receive, options.least);
}

logging::~logging() {
  log::connect(nullptr, log::level::off);
  std::unique_lock lock{state::guard};
  if (state::current == state_.get())
    state::current = nullptr;
}

void logging::least(log::level l) noexcept {
  log::connect(state::receive, l);
}

void logging::hide(const secret& value) {
  state_->hidden.add(value);
  // "name=value,name=value", and lists: each part may be seen by itself.
  for (std::string_view rest = value.reveal(); !rest.empty();) {
    const auto part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    state_->hidden.add(secret{std::string{part}});
    if (const auto equals = part.find('='); equals != part.npos)
      state_->hidden.add(secret{std::string{part.substr(equals + 1)}});
  }
}

void logging::hide_all(const settings& s) {
  auto copy = s;
  for (auto& key : setting_keys()) {
    auto slot = key.slot(copy);
    if (auto value = std::get_if<secret*>(&slot))
      hide(**value);
  }
  for (const auto& each : s.accounts)
    hide_all(*each.as);
}

void logging::flush() {
  state_->flush();
}

void logging::flush_current() {
  std::shared_lock lock{state::guard};
  if (state::current)
    state::current->flush();
}

std::uint64_t logging::dropped() const noexcept {
  return state_->sink->dropped();
}

std::string logging::metrics() {
  std::shared_lock lock{state::guard};
  const auto lost = state::current ? state::current->sink->dropped() : 0;
  metrics_writer out;
  out.counter("troupe_log_lines_dropped_total",
              "Log lines dropped because the reader was too slow.", lost);
  return out.take();
}

} // namespace troupe
