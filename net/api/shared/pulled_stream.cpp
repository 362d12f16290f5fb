#include "net/api/shared/pulled_stream.hpp"

#include "net/api/shared/run_stream.hpp"
#include "runtime/json/writer.hpp"

#include <utility>

namespace troupe::net {

void pulled_stream::start() {
  ex_->on_disconnect([weak = weak_from_this()] {
    if (auto self = weak.lock()) {
      {
        std::lock_guard lock{self->mutex_};
        self->over_ = true;
      }
      self->left();
    }
  });
  open_stream(*ex_, format_);
  go_on();
}

void pulled_stream::go_on() {
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

bool pulled_stream::may_step() {
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

void pulled_stream::write(std::string_view event, std::string data,
                          std::uint64_t id) {
  ex_->write(frame_entry(format_, event, std::move(data), id));
}

void pulled_stream::end(std::string_view event, std::string data) {
  write(event, std::move(data));
  ex_->finish();
  std::lock_guard lock{mutex_};
  over_ = true;
}

void pulled_stream::give_up(const error& why) {
  json::object_writer entry;
  entry.text("type", "error").raw("error", to_json_text(why));
  end("error", entry.finish());
}

} // namespace troupe::net
