#include "net/api/sandboxes/sandbox_cell_stream.hpp"

#include "net/api/sandboxes/sandbox_output_stream.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>
#include <limits>

namespace troupe::net {

namespace {

constexpr std::size_t largest_text = 64u << 10;
constexpr std::size_t whole_window = 64u << 20;
constexpr auto to_the_end = std::numeric_limits<std::uint64_t>::max();

/// Forms of JSON as JSON, which they were found to be, others as texts.
std::string bundle_text(const mime_bundle& data) {
  json::writer out;
  out.begin('{');
  for (const auto& [mime, content] : data)
    if (is_json_type(mime))
      out.escaped_name(mime).raw(content);
    else
      out.escaped_name(mime).text(content);
  out.end('}');
  return out.take();
}

} // namespace

std::string cell_event_text(const cell_event& e) {
  json::object_writer entry;
  entry.text("type", to_string(e.what));
  if (e.what == cell_event::kind::error)
    entry.text("name", e.name)
      .text("value", e.value)
      .text("traceback", e.traceback);
  else
    entry.raw("data", bundle_text(e.data));
  if (!e.display_id.empty())
    entry.text("id", e.display_id);
  return entry.finish();
}

std::string cell_answer_text(const sandbox_cell& cell) {
  std::string results, error;
  for (std::size_t i = 0;; ++i) {
    const auto told = cell.event(i);
    if (!told)
      break;
    if (told->event->what == cell_event::kind::error)
      error = cell_event_text(*told->event);
    else
      results.append(results.empty() ? "" : ",")
        .append(cell_event_text(*told->event));
  }
  auto text = json::to_text(to_json(cell.record()));
  text.pop_back(); // its last brace: more members follow
  json::object_writer more;
  for (auto each : {output_stream::out, output_stream::err}) {
    const auto piece = cell.read(each, 0, whole_window);
    const bool is_out = each == output_stream::out;
    more.text(is_out ? "stdout" : "stderr", json::repair_utf8(piece.bytes))
      .number(is_out ? "stdout_missed" : "stderr_missed", piece.missed);
  }
  more.raw("results", "[" + results + "]").raw("error", error);
  return text + "," + more.finish().substr(1);
}

bool sandbox_cell_stream::step() {
  const auto record = cell_->record(); // first: what it told is there then
  const auto next = cell_->event(read_.events);
  const auto before
    = next ? next->after : output_offsets{to_the_end, to_the_end};
  if (write_output(output_stream::out, before.out)
      || write_output(output_stream::err, before.err))
    return true;
  if (next) {
    ++read_.events;
    write(to_string(next->event->what), cell_event_text(*next->event));
    return true;
  }
  if (!record.ended()) {
    wait_for_more();
    return false;
  }
  auto text = json::to_text(to_json(record));
  end("end", "{\"type\":\"end\"," + text.substr(1));
  return false;
}

bool sandbox_cell_stream::write_output(output_stream which,
                                       std::uint64_t before) {
  auto& from = read_.output.of(which);
  if (from >= before)
    return false;
  const auto most = std::min<std::uint64_t>(before - from, largest_text);
  const auto piece = cell_->read(which, from, static_cast<std::size_t>(most));
  if (piece.bytes.empty() && piece.missed == 0)
    return false;
  json::object_writer entry;
  entry.text("type", name_of(which))
    .text("text", (which == output_stream::out ? out_ : err_).take(piece.bytes))
    .number("missed", piece.missed);
  from = piece.next();
  write(name_of(which), entry.finish());
  return true;
}

void sandbox_cell_stream::wait_for_more() {
  auto self = std::static_pointer_cast<sandbox_cell_stream>(shared_from_this());
  auto waits = cell_->when_more(read_, [self] { self->go_on(); });
  if (!waits)
    give_up(waits.error());
}

} // namespace troupe::net
