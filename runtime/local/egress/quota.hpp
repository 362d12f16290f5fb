#pragma once

#include "runtime/local/egress/broker_memory.hpp"
#include "runtime/local/egress/options.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace troupe::network {

/// What one broker may still spend: of the run it serves, and of the
/// organization whose account it shares with others. Used on one thread.
class quota {
public:
  using clock = std::chrono::steady_clock;

  quota(std::shared_ptr<shared<broker_page>> page,
        std::shared_ptr<shared<account>> organization,
        const broker_options& options)
      : page_{std::move(page)}, account_{std::move(organization)},
        run_{options.of_a_run}, all_{options.of_an_organization} {}

  /// The next run. What operations of the last one still hold, they give back.
  void begin_run() { sockets_paid_until_ = time_paid_until_ = 0; }

  bool take_socket(clock::time_point now);

  /// A call that waits, with the bytes that it holds. Gives them back at its
  /// end.
  class hold {
  public:
    hold() = default;
    hold(hold&& other) noexcept
        : of_{std::exchange(other.of_, nullptr)}, bytes_{other.bytes_} {}
    hold& operator=(hold&& other) noexcept;
    ~hold() { release(); }
    explicit operator bool() const noexcept { return of_ != nullptr; }

  private:
    friend class quota;
    hold(quota* of, std::int64_t bytes) : of_{of}, bytes_{bytes} {}
    void release() noexcept;

    quota* of_ = nullptr;
    std::int64_t bytes_ = 0;
  };
  /// Empty: it may not wait.
  hold wait_with(std::size_t bytes);

  /// So much time of a processor was used. How long to rest for it.
  std::chrono::nanoseconds charge(std::chrono::nanoseconds used,
                                  clock::time_point now);

private:
  std::shared_ptr<shared<broker_page>> page_;
  std::shared_ptr<shared<account>> account_;
  broker_budget run_, all_;
  std::int64_t sockets_paid_until_ = 0;
  std::int64_t time_paid_until_ = 0;
};

} // namespace troupe::network
