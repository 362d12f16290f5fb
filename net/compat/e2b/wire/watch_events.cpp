#include "net/compat/e2b/wire/watch_events.hpp"

#include "net/compat/e2b/wire/paths.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net::e2b_facade {

namespace {

/// Names whose history is remembered; beyond them files that are replaced are
/// told as new ones.
constexpr std::size_t most_seen = 10'000;

/// A file is uploaded beside its place first.
bool is_on_its_way(std::string_view path) {
  return name_of(path).starts_with(".troupe-");
}

} // namespace

watch_events::watch_events(std::string folder) : prefix_{std::move(folder)} {
  if (!prefix_.ends_with('/'))
    prefix_ += '/';
}

void watch_events::tell(std::string_view type, const std::string& path) {
  if (!path.starts_with(prefix_) || is_on_its_way(path))
    return;
  if (seen_.size() < most_seen)
    seen_.insert(path);
  json::object_writer out;
  out.text("name", json::repair_utf8(path.substr(prefix_.size())))
    .text("type", type);
  out_.push_back(out.finish());
}

void watch_events::tell_move(const file_event& e) {
  const bool uploaded = is_on_its_way(e.path);
  tell("EVENT_TYPE_RENAME", e.path);
  seen_.erase(e.path);
  if (!uploaded || !seen_.contains(e.to))
    tell("EVENT_TYPE_CREATE", e.to);
  if (uploaded)
    tell("EVENT_TYPE_WRITE", e.to);
}

std::vector<std::string>
watch_events::told(const std::vector<file_event>& events) {
  for (const auto& e : events)
    switch (e.what) {
    case file_event::kind::created:
      tell("EVENT_TYPE_CREATE", e.path);
      break;
    case file_event::kind::written:
      tell("EVENT_TYPE_WRITE", e.path);
      break;
    case file_event::kind::changed:
      tell("EVENT_TYPE_CHMOD", e.path);
      break;
    case file_event::kind::removed:
      tell("EVENT_TYPE_REMOVE", e.path);
      seen_.erase(e.path);
      break;
    case file_event::kind::moved:
      tell_move(e);
      break;
    case file_event::kind::overflow:
      overflowed_ = true;
      break;
    }
  return std::exchange(out_, {});
}

} // namespace troupe::net::e2b_facade
