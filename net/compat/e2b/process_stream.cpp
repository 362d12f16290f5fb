#include "net/compat/e2b/process_stream.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/json/writer.hpp"

#include <array>
#include <csignal>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_piece = 32u << 10;

/// {"event":{"keepalive":{}}} in its envelope: 26 bytes behind five.
constexpr std::string_view keepalive{
  "\0\0\0\0\x1a{\"event\":{\"keepalive\":{}}}", 5 + 26};

/// As the vendor's server, which is written in Go, calls them.
std::string signal_name(std::int32_t number) {
  struct named {
    int number;
    std::string_view name;
  };
  constexpr std::array<named, 12> names{{{SIGHUP, "hangup"},
                                         {SIGINT, "interrupt"},
                                         {SIGQUIT, "quit"},
                                         {SIGILL, "illegal instruction"},
                                         {SIGTRAP, "trace/breakpoint trap"},
                                         {SIGABRT, "aborted"},
                                         {SIGBUS, "bus error"},
                                         {SIGFPE, "floating point exception"},
                                         {SIGKILL, "killed"},
                                         {SIGSEGV, "segmentation fault"},
                                         {SIGPIPE, "broken pipe"},
                                         {SIGTERM, "terminated"}}};
  for (const auto& each : names)
    if (each.number == number)
      return std::string{each.name};
  return "signal " + std::to_string(number);
}

std::string in_event(std::string_view name, std::string_view content) {
  json::object_writer event;
  event.raw(name, content);
  json::object_writer out;
  out.raw("event", event.finish());
  return out.finish();
}

std::string start_json(std::int32_t pid) {
  json::object_writer out;
  out.number("pid", pid);
  return in_event("start", out.finish());
}

std::string data_json(std::string_view stream, std::string_view bytes) {
  json::object_writer out;
  out.text(stream, frame::to_base64(bytes));
  return in_event("data", out.finish());
}

} // namespace

std::string process_end_json(const process_record& record) {
  const bool exited = record.reason == process_reason::exited;
  const auto code = exited ? record.exit_code : -1;
  const auto status = exited
    ? "exit status " + std::to_string(code)
    : "signal: " + signal_name(record.signal ? record.signal : SIGKILL);
  json::object_writer out;
  out.number("exitCode", code).boolean("exited", exited).text("status", status);
  if (code != 0)
    out.text("error", status);
  return in_event("end", out.finish());
}

void process_stream::bound(std::chrono::milliseconds time) {
  on().after(time, [weak = weak_from_this()] {
    if (auto self = std::static_pointer_cast<process_stream>(weak.lock())) {
      self->out_of_time_ = true;
      self->go_on();
    }
  });
}

void process_stream::open(exchange& ex) {
  response head;
  head.type = "application/connect+json";
  ex.open(std::move(head), keepalive);
}

bool process_stream::step() {
  if (!std::exchange(begun_, true)) {
    put(envelope_of(start_json(program_->record().pid)));
    return true;
  }
  const auto record = program_->record(); // first: its output is there then
  if (write_piece(output_stream::out) || write_piece(output_stream::err))
    return true;
  if (record.ended())
    return write_end(record);
  if (out_of_time_) {
    put(
      end_envelope({rpc_code::deadline_exceeded, "context deadline exceeded"}));
    close();
    return false;
  }
  wait_for_more();
  return false;
}

bool process_stream::write_piece(output_stream which) {
  auto& from = from_.of(which);
  const auto piece = program_->read(which, from, largest_piece);
  from = piece.next();
  if (piece.bytes.empty())
    return piece.missed != 0;
  const auto* stream = at_terminal_ ? "pty"
    : which == output_stream::out   ? "stdout"
                                    : "stderr";
  put(envelope_of(data_json(stream, piece.bytes)));
  return true;
}

bool process_stream::write_end(const process_record& record) {
  switch (record.reason) {
  case process_reason::sandbox_ended:
  case process_reason::lost:
    cut();
    return false;
  case process_reason::timeout:
    put(
      end_envelope({rpc_code::deadline_exceeded, "context deadline exceeded"}));
    break;
  default:
    put(envelope_of(process_end_json(record)) + end_envelope());
  }
  close();
  return false;
}

void process_stream::wait_for_more() {
  auto self = std::static_pointer_cast<process_stream>(shared_from_this());
  auto waits = program_->when_more(from_, [self] { self->go_on(); });
  if (waits)
    return;
  put(end_envelope({rpc_code::resource_exhausted, waits.error().text}));
  close();
}

} // namespace troupe::net::e2b_facade
