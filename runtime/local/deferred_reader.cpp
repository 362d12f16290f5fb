#include "runtime/local/deferred_reader.hpp"

#include "runtime/local/local_run.hpp"

namespace troupe {

namespace {

/// A run is watched after one to two of these. Long enough for most runs, short
/// enough for who reads a stream.
constexpr std::chrono::milliseconds moment{4};

} // namespace

deferred_reader::deferred_reader(boost::asio::any_io_executor strand)
    : timer_{std::move(strand)} {}

void deferred_reader::add(const std::shared_ptr<local_run>& run) {
  young_.push_back(run);
  wait();
}

void deferred_reader::wait() {
  if (waiting_)
    return;
  waiting_ = true;
  timer_.expires_after(moment);
  timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->turn();
    });
}

void deferred_reader::turn() {
  waiting_ = false;
  for (auto& weak : old_)
    if (const auto run = weak.lock(); run && !run->watch())
      young_.push_back(std::move(weak)); // no room in epoll: next time
  old_ = std::move(young_);
  young_.clear();
  if (!old_.empty())
    wait();
}

} // namespace troupe
