#include "runtime/local/sandbox/living_process.hpp"

#include "runtime/local/sandbox/memory_text.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace troupe {

namespace asio = boost::asio;

namespace {

constexpr std::size_t max_unwritten = 1u << 20;
constexpr std::size_t read_bytes = 64u << 10; // a pipe holds as much

/// Of what is in its pipes when a process has ended, others may go on writing.
constexpr int max_last_reads = 32;

constexpr char end_key = '\x04'; // Ctrl-D

bool make_output(unique_fd& ours, unique_fd& its) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  ours.reset(ends[0]);
  its.reset(ends[1]);
  return ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

/// A socket: writing to one whose reader is gone raises no signal.
bool make_open_input(unique_fd& ours, unique_fd& its) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  ours.reset(ends[0]);
  its.reset(ends[1]);
  return ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

} // namespace

living_process::living_process(asio::any_io_executor executor,
                               process_events events)
    : in_{executor}, out_{executor}, err_{executor}, events_{
                                                       std::move(events)} {}

result<std::shared_ptr<living_process>>
living_process::make(asio::any_io_executor executor, const std::string& input,
                     bool open_input, process_events events, far_ends& its) {
  unique_fd in, out, err;
  bool good = make_output(out, its.out) && make_output(err, its.err);
  if (good && open_input) {
    good = make_open_input(in, its.in);
  } else if (good && !input.empty()) {
    its.in = memory_text("stdin", input);
    good = static_cast<bool>(its.in);
  }
  if (!good)
    return fail(ec::exhausted, "no descriptors are left for another process");
  std::shared_ptr<living_process> made{
    new living_process{std::move(executor), std::move(events)}};
  if (in)
    made->in_.assign(in.release());
  made->out_.assign(out.release());
  made->err_.assign(err.release());
  if (open_input)
    made->unwritten_ = input;
  return made;
}

result<std::shared_ptr<living_process>>
living_process::make_at_terminal(asio::any_io_executor executor,
                                 const std::string& input,
                                 process_events events) {
  std::shared_ptr<living_process> made{
    new living_process{std::move(executor), std::move(events)}};
  made->at_terminal_ = true;
  made->unwritten_ = input;
  return made;
}

void living_process::mark_begun(std::int32_t pid, unique_fd terminal) {
  pid_ = pid;
  if (!at_terminal_ || !terminal || over_)
    return;
  // Reading and writing wait for each other in one descriptor's stream.
  unique_fd keys{::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 3)};
  if (keys)
    in_.assign(keys.release());
  out_.assign(terminal.release());
  begin_reading();
}

result<void> living_process::resize(terminal_size to) {
  if (!at_terminal_)
    return fail(ec::conflict, "the process has no terminal");
  winsize size{};
  size.ws_col = to.columns;
  size.ws_row = to.rows;
  if (!out_.is_open() || ::ioctl(out_.native_handle(), TIOCSWINSZ, &size) != 0)
    return fail(ec::conflict, "the terminal of the process is closed");
  return {};
}

void living_process::begin_reading() {
  read_later(out_, output_stream::out);
  read_later(err_, output_stream::err);
  write_later();
}

void living_process::read_later(stream& from, output_stream which) {
  if (!from.is_open())
    return;
  from.async_wait(
    stream::wait_read,
    [self = shared_from_this(), &from, which](boost::system::error_code code) {
      if (!code && self->read_once(from, which) != heard::end)
        self->read_later(from, which);
    });
}

living_process::heard living_process::read_once(stream& from,
                                                output_stream which) {
  if (!from.is_open())
    return heard::end;
  char buffer[read_bytes];
  const auto size = ::read(from.native_handle(), buffer, sizeof buffer);
  if (size > 0) {
    if (events_.output)
      events_.output(which,
                     std::string_view{buffer, static_cast<std::size_t>(size)});
    return heard::something;
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return heard::nothing_now;
  boost::system::error_code ignored;
  from.close(ignored);
  return heard::end;
}

void living_process::read_available() {
  const auto drain = [this](stream& from, output_stream which) {
    int reads = 0;
    while (reads < max_last_reads && read_once(from, which) == heard::something)
      ++reads;
  };
  drain(out_, output_stream::out);
  drain(err_, output_stream::err);
}

void living_process::finish(result<process_end> how) {
  if (std::exchange(over_, true))
    return;
  auto self = shared_from_this();
  read_available();
  boost::system::error_code ignored;
  for (auto* stream : {&in_, &out_, &err_})
    stream->close(ignored);
  unwritten_.clear();
  auto events = std::exchange(events_, {});
  if (events.ended)
    events.ended(std::move(how));
}

result<void> living_process::write(std::string bytes) {
  if (over_ || !in_.is_open() || closes_input_)
    return fail(ec::conflict, "the process has no open input");
  if (unwritten_.size() + bytes.size() > max_unwritten)
    return fail(ec::exhausted,
                "the process has not read 1 MiB of earlier input; wait until "
                "it has");
  unwritten_ += bytes;
  write_later();
  return {};
}

void living_process::close_input() {
  if (at_terminal_ && unwritten_.size() < max_unwritten)
    unwritten_ += end_key;
  else
    closes_input_ = true;
  write_later();
}

ssize_t living_process::write_some() {
  if (at_terminal_) // which raises no signal
    return ::write(in_.native_handle(), unwritten_.data(), unwritten_.size());
  return ::send(in_.native_handle(), unwritten_.data(), unwritten_.size(),
                MSG_NOSIGNAL);
}

void living_process::write_later() {
  if (!in_.is_open() || is_writing_)
    return;
  while (!unwritten_.empty()) {
    const auto n = write_some();
    if (n > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN) { // it reads no more
      unwritten_.clear();
      closes_input_ = true;
      break;
    }
    is_writing_ = true;
    in_.async_wait(stream::wait_write,
                   [self = shared_from_this()](boost::system::error_code code) {
                     self->is_writing_ = false;
                     if (!code)
                       self->write_later();
                   });
    return;
  }
  boost::system::error_code ignored;
  if (closes_input_)
    in_.close(ignored);
}

result<void> living_process::signal(std::int32_t number) {
  if (over_ || !send_signal_)
    return fail(ec::conflict, "the process has ended");
  if (number < 1 || number > 64)
    return bad_field("/signal",
                     std::to_string(number) + " is no signal; 1 to 64 are");
  return send_signal_(number);
}

} // namespace troupe
