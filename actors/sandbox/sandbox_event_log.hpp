#pragma once

#include "runtime/engine/sandbox_engine.hpp"

#include <deque>
#include <mutex>

namespace troupe {

/// The last events of one sandbox, told by its actor and read on any thread.
class sandbox_event_log final : public sandbox_events {
public:
  explicit sandbox_event_log(std::size_t kept) : kept_{kept} {}

  void tell(sandbox_event::kind what, std::string subject = {},
            std::string reason = {});
  /// There will be no more.
  void close();

  std::vector<sandbox_event> read(std::uint64_t after,
                                  std::size_t most) const override;
  result<void> when_more(std::uint64_t after,
                         std::function<void()> then) override;
  bool over() const override;

private:
  static constexpr std::size_t most_readers = 16;

  const std::size_t kept_;
  mutable std::mutex mutex_; // guards what follows
  std::deque<sandbox_event> events_;
  std::uint64_t last_ = 0;
  bool over_ = false;
  std::vector<std::function<void()>> readers_;
};

} // namespace troupe
