#include "net/api/shared/pulled_bytes.hpp"

#include <utility>

namespace troupe::net {

void pulled_bytes::start() {
  ex_->on_disconnect([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self)
      return;
    {
      std::lock_guard lock{self->mutex_};
      if (std::exchange(self->over_, true))
        return;
    }
    self->left();
  });
  open(*ex_);
  go_on();
}

void pulled_bytes::go_on() {
  {
    std::lock_guard lock{mutex_};
    again_ = true;
    if (std::exchange(busy_, true))
      return;
  }
  for (;;) {
    {
      std::lock_guard lock{mutex_};
      if (over_ || !std::exchange(again_, false)) {
        busy_ = false;
        return;
      }
    }
    while (may_step() && step()) {
    }
  }
}

bool pulled_bytes::may_step() {
  {
    std::lock_guard lock{mutex_};
    if (over_)
      return false;
  }
  if (ex_->has_room())
    return true;
  ex_->when_drained([self = shared_from_this()] { self->go_on(); });
  return false;
}

void pulled_bytes::close() {
  ex_->finish();
  std::lock_guard lock{mutex_};
  over_ = true;
}

void pulled_bytes::cut() {
  ex_->give_up();
  std::lock_guard lock{mutex_};
  over_ = true;
}

} // namespace troupe::net
