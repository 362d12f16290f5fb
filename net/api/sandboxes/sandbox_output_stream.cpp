#include "net/api/sandboxes/sandbox_output_stream.hpp"

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

bool sandbox_output_stream::step() {
  // Asked first: all that it said is there when it has ended.
  const auto record = program_->record();
  if (write_piece(output_stream::out) || write_piece(output_stream::err))
    return true;
  if (!record.ended()) {
    wait_for_more();
    return false;
  }
  json::object_writer entry;
  entry.text("type", "end").raw("process", json::to_text(to_json(record)));
  end("end", entry.finish());
  return false;
}

bool sandbox_output_stream::write_piece(output_stream which) {
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
  write("output", entry.finish());
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
  auto self
    = std::static_pointer_cast<sandbox_output_stream>(shared_from_this());
  auto waits = program_->when_more(read, [self] { self->go_on(); });
  if (!waits)
    give_up(waits.error());
}

} // namespace troupe::net
