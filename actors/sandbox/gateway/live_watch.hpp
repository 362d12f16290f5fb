#pragma once

#include "runtime/engine/sandbox_trees.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <mutex>

namespace troupe {

/// What a place tells of watched files, on its thread, until a reader takes it
/// on any other.
class live_watch final : public sandbox_watch {
public:
  /// What a watch has heard. The place holds that, and not the watch: then it
  /// would never go.
  class queue {
  public:
    void tell(std::vector<file_event> some);
    void end(error why);
    std::vector<file_event> take();
    std::optional<error> over() const;
    void when_more(std::function<void()> then);

  private:
    static constexpr std::size_t most = 1'024;
    void wake(std::unique_lock<std::mutex> lock);

    mutable std::mutex mutex_;
    std::vector<file_event> all_;
    std::optional<error> over_;
    std::function<void()> reader_;
  };

  live_watch(std::shared_ptr<queue> heard, file_watch_ptr at_place,
             boost::asio::any_io_executor executor)
      : heard_{std::move(heard)}, at_place_{std::move(at_place)},
        executor_{std::move(executor)} {}
  ~live_watch() override;

  std::vector<file_event> take() override { return heard_->take(); }
  std::optional<error> over() const override { return heard_->over(); }
  void when_more(std::function<void()> then) override {
    heard_->when_more(std::move(then));
  }
  void close() override;

private:
  const std::shared_ptr<queue> heard_;
  file_watch_ptr at_place_;
  const boost::asio::any_io_executor executor_;
};

} // namespace troupe
