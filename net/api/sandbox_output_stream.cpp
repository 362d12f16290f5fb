#include "net/api/sandbox_output_stream.hpp"

#include "net/api/run_stream.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <limits>

namespace troupe::net {

namespace {

constexpr std::size_t largest_entry = 64u << 10;
constexpr auto never = std::numeric_limits<std::uint64_t>::max();

} // namespace

std::string_view name_of(output_stream which) {
  return which == output_stream::out ? "stdout" : "stderr";
}

void sandbox_output_stream::start() {
  ex_->on_disconnect([weak = weak_from_this()] {
    if (auto self = weak.lock()) {
      std::lock_guard lock{self->mutex_};
      self->over_ = true;
    }
  });
  open_stream(*ex_, format_);
  go_on();
}

void sandbox_output_stream::go_on() {
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
    while (step()) {
    }
  }
}

bool sandbox_output_stream::step() {
  {
    std::lock_guard lock{mutex_};
    if (over_)
      return false;
  }
  if (!ex_->has_room()) {
    ex_->when_drained([self = shared_from_this()] { self->go_on(); });
    return false;
  }
  // Asked first: all that it said is there when it has ended.
  const auto record = program_->record();
  if (write(output_stream::out) || write(output_stream::err))
    return true;
  if (record.ended())
    end(record);
  else
    wait_for_more();
  return false;
}

bool sandbox_output_stream::write(output_stream which) {
  if (!wants(which))
    return false;
  auto& from = wish_.from.of(which);
  const auto piece = program_->read(which, from, largest_entry);
  if (piece.bytes.empty() && piece.missed == 0)
    return false;
  json::object_writer entry;
  entry.text("type", "output")
    .text("stream", name_of(which))
    .number("from", piece.from)
    .number("missed", piece.missed)
    .text("data", encoded(which, piece.bytes));
  from = piece.next();
  ex_->write(frame_entry(format_, "output", entry.finish()));
  return true;
}

std::string sandbox_output_stream::encoded(output_stream which,
                                           const std::string& bytes) {
  if (wish_.encoding == output_encoding::base64)
    return frame::to_base64(bytes);
  return (which == output_stream::out ? out_ : err_).take(bytes);
}

void sandbox_output_stream::wait_for_more() {
  auto read = wish_.from;
  for (auto each : {output_stream::out, output_stream::err})
    if (!wants(each))
      read.of(each) = never;
  auto waits
    = program_->when_more(read, [self = shared_from_this()] { self->go_on(); });
  if (waits)
    return;
  json::object_writer entry;
  entry.text("type", "error").raw("error", to_json_text(waits.error()));
  ex_->write(frame_entry(format_, "error", entry.finish()));
  ex_->finish();
  std::lock_guard lock{mutex_};
  over_ = true;
}

void sandbox_output_stream::end(const process_record& record) {
  json::object_writer entry;
  entry.text("type", "end").raw("process", json::to_text(to_json(record)));
  ex_->write(frame_entry(format_, "end", entry.finish()));
  ex_->finish();
  std::lock_guard lock{mutex_};
  over_ = true;
}

} // namespace troupe::net
