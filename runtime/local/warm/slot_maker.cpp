#include "runtime/local/warm/slot_maker.hpp"

namespace troupe::zygote {

void slot_maker::make(const launch& like) {
  ++count_;
  ++by_key_[like.slot_key];
  provisioner_->prepare(
    like,
    [weak = weak_from_this(), key = like.slot_key](result<slot_sandbox> on) {
      if (auto self = weak.lock())
        self->on_prepared(key, std::move(on));
    });
}

void slot_maker::done(const std::string& key) {
  --count_;
  if (const auto of = by_key_.find(key); --of->second == 0)
    by_key_.erase(of);
}

std::size_t slot_maker::count(const std::string& key) const {
  const auto of = by_key_.find(key);
  return of == by_key_.end() ? 0 : of->second;
}

void slot_maker::on_prepared(const std::string& key, result<slot_sandbox> on) {
  if (!on) {
    done(key);
    return on_.failed(key, on.error().text);
  }
  auto s = std::make_shared<slot>(strand_, key, std::move(*on));
  if (auto made = zygotes_->make(s); !made) {
    provisioner_->release(s->ticket(), {});
    done(key);
    return on_.failed(key, made.error().text);
  }
  on_.ordered(s);
}

} // namespace troupe::zygote
