#include "net/api/environment_build_stream.hpp"

#include "runtime/json/writer.hpp"

namespace troupe::net {

void environment_build_stream::line(std::string_view text) {
  std::lock_guard lock{mutex_};
  if (may_write())
    write_line(text);
  else
    ++left_out_;
}

void environment_build_stream::end(std::string environment) {
  std::lock_guard lock{mutex_};
  end_ = std::move(environment);
  if (may_write())
    write_end();
}

bool environment_build_stream::may_write() {
  if (!waiting_ && ex_->has_room())
    return true;
  if (!std::exchange(waiting_, true))
    ex_->when_drained([self = shared_from_this()] { self->caught_up(); });
  return false;
}

void environment_build_stream::caught_up() {
  std::lock_guard lock{mutex_};
  waiting_ = false;
  if (auto lines = std::exchange(left_out_, 0))
    write_line("... " + std::to_string(lines)
               + " lines were dropped because the reader was too slow");
  if (end_)
    write_end();
}

void environment_build_stream::write_line(std::string_view text) {
  json::object_writer out;
  out.text("type", "progress").text("line", utf8_joiner{}.take(text));
  send("progress", out.finish());
}

void environment_build_stream::write_end() {
  json::object_writer out;
  out.text("type", "end").raw("package_set", *end_);
  send("end", out.finish());
  ex_->finish();
}

void environment_build_stream::send(std::string_view event, std::string data) {
  ex_->write(frame_entry(format_, event, std::move(data)));
}

} // namespace troupe::net
