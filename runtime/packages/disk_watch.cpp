// What builds take of the host's disk, looked at while they are under way:
// nothing but the disk itself would hold them back.
#include "runtime/packages/builder.hpp"
#include "runtime/packages/disk_usage.hpp"

#include <boost/asio/post.hpp>

namespace troupe {

namespace {

std::string mib(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

} // namespace

std::string
environment_builder::over_bound(const std::filesystem::path& staged) const {
  auto use = use_of(staged);
  if (use.bytes > options_.build_bytes)
    return "they use more than the " + mib(options_.build_bytes)
      + " of local.package-build-disk";
  if (use.inodes > options_.build_inodes)
    return "they are more than " + std::to_string(options_.build_inodes)
      + " files";
  std::error_code why;
  auto space = std::filesystem::space(cache_.root(), why);
  if (!why && space.available < options_.reserve_bytes)
    return "the disk of the engine has less than " + mib(options_.reserve_bytes)
      + " left";
  return {};
}

void environment_builder::watch_soon() {
  {
    std::lock_guard guard{mutex_};
    if (stopped_ || std::exchange(watching_, true))
      return;
  }
  watch_timer_.expires_after(options_.look_every);
  watch_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      if (auto self = weak.lock(); self && !bad)
        self->watch();
    });
}

void environment_builder::watch() {
  std::vector<std::pair<key, build>> looked_at;
  {
    std::lock_guard guard{mutex_};
    watching_ = false;
    for (const auto& [k, b] : builds_)
      if (!b.installer.empty() && b.over_bound.empty()) {
        auto& copy = looked_at.emplace_back(k, build{}).second;
        copy.staged = b.staged;
        copy.installer = b.installer;
      }
  }
  for (const auto& [k, b] : looked_at) {
    auto why = over_bound(b.staged);
    if (why.empty())
      continue;
    {
      std::lock_guard guard{mutex_};
      if (auto i = builds_.find(k); i != builds_.end())
        i->second.over_bound = why;
    }
    carrier_->cancel(b.installer, exit_reason::disk_limit);
  }
  if (!looked_at.empty())
    watch_soon();
}

} // namespace troupe
