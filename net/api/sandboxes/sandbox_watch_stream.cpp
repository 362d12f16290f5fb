#include "net/api/sandboxes/sandbox_watch_stream.hpp"

#include "runtime/json/json.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net {

namespace {

std::string_view name_of(file_event::kind what) {
  switch (what) {
  case file_event::kind::created:
    return "created";
  case file_event::kind::written:
    return "written";
  case file_event::kind::changed:
    return "changed";
  case file_event::kind::removed:
    return "removed";
  case file_event::kind::moved:
    return "moved";
  case file_event::kind::overflow:
    break;
  }
  return "overflow";
}

} // namespace

bool sandbox_watch_stream::step() {
  const auto why = watch_->over(); // first: what came before it is there
  const auto some = watch_->take();
  for (const auto& each : some) {
    json::object_writer entry;
    entry.text("type", name_of(each.what))
      .text("path", json::repair_utf8(each.path));
    if (!each.to.empty())
      entry.text("to", json::repair_utf8(each.to));
    write(name_of(each.what), entry.finish());
  }
  if (why) {
    give_up(*why);
    return false;
  }
  if (some.empty()) {
    auto self
      = std::static_pointer_cast<sandbox_watch_stream>(shared_from_this());
    watch_->when_more([self] { self->go_on(); });
    return false;
  }
  return true;
}

} // namespace troupe::net
