#include "app/daemon/drain.hpp"

#include "runtime/base/log.hpp"

#include <boost/asio/post.hpp>

#include <thread>
#include <utility>

namespace troupe {

namespace {

// Runs end in milliseconds and in minutes; an operator does not see this.
constexpr std::chrono::milliseconds between_looks{10};

} // namespace

void engine_drain::begin(std::chrono::milliseconds time,
                         std::function<void(std::size_t)> done) {
  const auto until = std::chrono::steady_clock::now() + time;
  boost::asio::post(thread_, [this, until, done = std::move(done)] {
    log::info("draining: new runs are refused until the engine is restarted");
    engine_.drain(until);
    while (engine_.running() > 0 && !stopping_
           && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(between_looks);
    done(engine_.running());
  });
}

void engine_drain::stop() {
  stopping_ = true;
  thread_.join();
}

} // namespace troupe
