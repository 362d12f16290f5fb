#include "net/compat/e2b/execute_stream.hpp"

#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_text = 8u << 10;
constexpr auto to_the_end = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view keepalive = "{\"type\":\"keepalive\"}\n";

struct named_form {
  std::string_view mime;
  std::string_view member;
};
constexpr std::array<named_form, 12> forms{{
  {"text/plain", "text"},
  {"text/html", "html"},
  {"text/markdown", "markdown"},
  {"image/svg+xml", "svg"},
  {"image/png", "png"},
  {"image/jpeg", "jpeg"},
  {"application/pdf", "pdf"},
  {"text/latex", "latex"},
  {"application/json", "json"},
  {"application/javascript", "javascript"},
  {"application/vnd.e2b.data+json", "data"},
  {"application/vnd.e2b.chart+json", "chart"},
}};

std::string_view member_of(std::string_view mime) {
  for (const auto& each : forms)
    if (each.mime == mime)
      return each.member;
  return {};
}

/// A text shows without its quotes.
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() > 1 && text.front() == text.back()
    && (text.front() == '\'' || text.front() == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string now_text() {
  return to_text(
    std::chrono::floor<timestamp::duration>(std::chrono::system_clock::now()));
}

void write_form(json::writer& out, std::string_view mime,
                const std::string& content) {
  if (is_json_type(mime))
    out.raw(content);
  else
    out.text(mime == "text/plain" ? unquoted(content)
                                  : std::string_view{content});
}

std::string error_line(std::string_view name, std::string_view value,
                       std::string_view traceback) {
  json::object_writer out;
  out.text("type", "error")
    .text("name", name)
    .text("value", json::repair_utf8(value))
    .text("traceback", json::repair_utf8(traceback));
  return out.finish();
}

void append_unit(std::string& out, unsigned unit) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", unit);
  out += text;
}

} // namespace

std::string ascii_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      out += text[i++];
      continue;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    unsigned point = lead & (0xffu >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      point = (point << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
    i += length;
    if (point < 0x10000) {
      append_unit(out, point);
    } else {
      append_unit(out, 0xd800 + ((point - 0x10000) >> 10));
      append_unit(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
    }
  }
  return out;
}

std::string line_of(const cell_event& e) {
  if (e.what == cell_event::kind::error)
    return error_line(e.name, e.value, e.traceback);
  json::object_writer out;
  out.text("type", "result")
    .boolean("is_main_result", e.what == cell_event::kind::result);
  json::object_writer extra;
  for (const auto& [mime, content] : e.data) {
    const auto member = member_of(mime);
    if (member.empty()) {
      extra.escaped_name(mime);
      write_form(extra, mime, content);
    } else {
      out.name(member);
      write_form(out, mime, content);
    }
  }
  out.raw("extra", extra.finish());
  return out.finish();
}

void execute_stream::open(exchange& ex) {
  response head;
  head.type = "application/x-ndjson";
  ex.open(std::move(head), keepalive);
}

void execute_stream::write_line(std::string line) {
  put(ascii_json(line) += '\n');
}

bool execute_stream::step() {
  if (!std::exchange(begun_, true)) {
    json::object_writer out;
    out.text("type", "number_of_executions")
      .number("execution_count", what_.number);
    write_line(out.finish());
    return true;
  }
  const auto record = what_.cell->record(); // first: what it told is there then
  const auto next = what_.cell->event(read_.events);
  const auto before
    = next ? next->after : output_offsets{to_the_end, to_the_end};
  if (write_output(output_stream::out, before.out)
      || write_output(output_stream::err, before.err))
    return true;
  if (next) {
    ++read_.events;
    told_error_ |= next->event->what == cell_event::kind::error;
    write_line(line_of(*next->event));
    return true;
  }
  if (record.ended())
    return write_end(record);
  wait_for_more();
  return false;
}

bool execute_stream::write_output(output_stream which, std::uint64_t before) {
  auto& from = read_.output.of(which);
  if (from >= before)
    return false;
  const auto most = std::min<std::uint64_t>(before - from, largest_text);
  const auto piece
    = what_.cell->read(which, from, static_cast<std::size_t>(most));
  if (piece.bytes.empty() && piece.missed == 0)
    return false;
  from = piece.next();
  const bool is_out = which == output_stream::out;
  const auto text = (is_out ? out_ : err_).take(piece.bytes);
  json::object_writer out;
  out.text("type", is_out ? "stdout" : "stderr")
    .text("text", text)
    .text("timestamp", now_text());
  if (!text.empty())
    write_line(out.finish());
  return true;
}

bool execute_stream::write_end(const cell_record& record) {
  switch (record.status) {
  case cell_status::lost:
    if (!what_.lost()) {
      cut();
      return false;
    }
    if (!told_error_)
      write_line(error_line("ContextRestarting", "Context was restarted", ""));
    break;
  case cell_status::interrupted:
    if (!told_error_)
      write_line(error_line("KeyboardInterrupt", "", ""));
    break;
  case cell_status::timeout:
    if (!told_error_)
      write_line(error_line("ExecutionAborted", record.detail, ""));
    break;
  default:
    break;
  }
  write_line(R"({"type":"end_of_execution"})");
  close();
  return false;
}

void execute_stream::left() {
  what_.leave();
}

void execute_stream::wait_for_more() {
  auto self = std::static_pointer_cast<execute_stream>(shared_from_this());
  auto waits = what_.cell->when_more(read_, [self] { self->go_on(); });
  if (waits)
    return;
  write_line(error_line("ExecutionAborted", waits.error().text, ""));
  write_line(R"({"type":"end_of_execution"})");
  close();
}

} // namespace troupe::net::e2b_facade
