#pragma once

#include "runtime/local/warm/options.hpp"
#include "runtime/local/warm/slot_pool.hpp"

#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

namespace troupe::zygote {

/// What is under way at a launcher.
struct launcher_load {
  std::size_t running = 0;
  std::size_t waiting = 0; // for a slot
  std::size_t making = 0;  // slots
};

/// Forks a child before its run comes.
///
/// Buys: of a run that comes right after another one, the fork and what a child
/// does before it reads its request are over when it comes; a quarter to a
/// third of its latency. It costs no processor time to speak of, for such a
/// child is a fork early, not one more.
class prefork : public std::enable_shared_from_this<prefork> {
public:
  prefork(boost::asio::any_io_executor strand, const zygote_options& options,
          slot_pool& pool, std::function<launcher_load()> load)
      : options_{options}, pool_{pool}, load_{std::move(load)}, timer_{strand} {
  }

  /// A run with this key has begun. True: another slot would help the next one.
  bool on_run(const std::string& key);
  /// A slot has nothing to do from here on.
  void on_rest(const slot& s);
  void stop();

private:
  void warm_up();

  const zygote_options options_;
  slot_pool& pool_;
  std::function<launcher_load()> load_;
  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point last_rest_{}; // of a slot
  bool stopped_ = false;
};

} // namespace troupe::zygote
