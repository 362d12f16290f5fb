#include "actors/sandbox/sandbox_register.hpp"

#include "runtime/base/log.hpp"

#include <boost/asio/post.hpp>

#include <future>

namespace troupe {

void sandbox_register::put(stored_sandbox what, written then) {
  if (!store_) {
    if (then)
      then({});
    return;
  }
  change next;
  next.organization = what.record.organization;
  const auto id = what.record.id;
  next.what = std::move(what);
  if (then)
    next.then.push_back(std::move(then));
  enter(id, std::move(next));
}

void sandbox_register::erase(const organization_id& organization,
                             const sandbox_id& id) {
  if (store_)
    enter(id, {organization, std::nullopt, {}});
}

void sandbox_register::flush() {
  std::promise<void> done;
  boost::asio::post(disk_, [&done] { done.set_value(); });
  done.get_future().wait();
}

void sandbox_register::enter(const sandbox_id& id, change next) {
  {
    std::lock_guard lock{mutex_};
    auto [place, fresh] = waiting_.try_emplace(id);
    auto& waits = place->second;
    waits.organization = std::move(next.organization);
    waits.what = std::move(next.what);
    for (auto& each : next.then)
      waits.then.push_back(std::move(each));
    if (!fresh)
      return; // its turn comes, with this
  }
  boost::asio::post(disk_, [this, id] { write(id); });
}

void sandbox_register::write(const sandbox_id& id) {
  change now;
  {
    std::lock_guard lock{mutex_};
    now = std::move(waiting_.extract(id).mapped());
  }
  auto done = now.what ? store_->put(*now.what, !now.then.empty())
                       : store_->erase(now.organization, id);
  if (!done && now.then.empty())
    log::warning("the record of sandbox " + id.str()
                 + " could not be written: " + done.error().text);
  for (auto& each : now.then)
    each(done);
}

} // namespace troupe
