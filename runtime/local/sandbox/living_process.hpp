#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/engine/sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe {

/// The engine's end of one process in a sandbox of this machine: its pipes.
/// What moves it is its sandbox, which hears of its beginning and its end.
class living_process final
    : public sandbox_process,
      public std::enable_shared_from_this<living_process> {
public:
  /// What the process gets; closed once it has them.
  struct far_ends {
    unique_fd in; // empty: /dev/null
    unique_fd out;
    unique_fd err;
    unique_fd channel{}; // empty: none; else its descriptor 3
  };
  using signal_fn = std::function<result<void>(std::int32_t)>;

  /// `input` is all that it reads, unless `open_input`.
  static result<std::shared_ptr<living_process>>
  make(boost::asio::any_io_executor executor, const std::string& input,
       bool open_input, process_events events, far_ends& its);
  /// One at a terminal, of which our end comes when it is begun.
  static result<std::shared_ptr<living_process>>
  make_at_terminal(boost::asio::any_io_executor executor,
                   const std::string& input, process_events events);

  /// The way to send signals, from where it is executed on.
  void set_signal(signal_fn how) { send_signal_ = std::move(how); }
  void begin_reading();
  /// Tells what is in the pipes now: it came before what is heard elsewhere.
  void read_available();
  void mark_begun(std::int32_t pid, unique_fd terminal);
  /// Tells what is left in the pipes, then the end. Others may still hold them
  /// in the sandbox: they find them closed.
  void finish(result<process_end> how);
  /// Nothing is told from here on.
  void forget() { events_ = {}; }

  std::int32_t pid() const override { return pid_; }
  result<void> write(std::string bytes) override;
  void close_input() override;
  result<void> signal(std::int32_t number) override;
  result<void> resize(terminal_size to) override;

private:
  using stream = boost::asio::posix::stream_descriptor;

  explicit living_process(boost::asio::any_io_executor executor,
                          process_events events);
  void read_later(stream& from, output_stream which);
  enum class heard { something, nothing_now, end };
  heard read_once(stream& from, output_stream which);
  void write_later();
  ssize_t write_some();

  stream in_;
  stream out_;
  stream err_;
  process_events events_;
  signal_fn send_signal_;
  std::string unwritten_; // 1 MiB at most
  bool at_terminal_ = false;
  bool is_writing_ = false;
  bool closes_input_ = false;
  bool over_ = false;
  std::int32_t pid_ = 0;
};

} // namespace troupe
