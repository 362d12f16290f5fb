#include "actors/sandbox/gateway/live_watch.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace troupe {

void live_watch::queue::tell(std::vector<file_event> some) {
  std::unique_lock lock{mutex_};
  for (auto& each : some) {
    if (all_.size() > most) // and has said so
      break;
    if (all_.size() == most)
      each = {file_event::kind::overflow, std::move(each.path), {}};
    all_.push_back(std::move(each));
  }
  wake(std::move(lock));
}

void live_watch::queue::end(error why) {
  std::unique_lock lock{mutex_};
  if (!over_)
    over_ = std::move(why);
  wake(std::move(lock));
}

void live_watch::queue::wake(std::unique_lock<std::mutex> lock) {
  auto told = std::exchange(reader_, nullptr);
  lock.unlock();
  if (told)
    told();
}

std::vector<file_event> live_watch::queue::take() {
  std::lock_guard lock{mutex_};
  return std::exchange(all_, {});
}

std::optional<error> live_watch::queue::over() const {
  std::lock_guard lock{mutex_};
  return over_;
}

void live_watch::queue::when_more(std::function<void()> then) {
  std::unique_lock lock{mutex_};
  auto before = std::exchange(reader_, std::move(then));
  if (!all_.empty() || over_)
    wake(std::move(lock));
}

live_watch::~live_watch() {
  if (at_place_)
    boost::asio::post(
      executor_, [gone = std::move(at_place_)]() mutable { gone.reset(); });
}

void live_watch::close() {
  heard_->end(fail(ec::conflict, "it was ended"));
}

} // namespace troupe
