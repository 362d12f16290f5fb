#pragma once

#include "runtime/engine/sandbox.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

namespace troupe::test {

/// A process of this machine in a session of its own, watched from one thread.
class toy_process final : public sandbox_process,
                          public std::enable_shared_from_this<toy_process> {
public:
  static result<std::shared_ptr<toy_process>>
  start(boost::asio::any_io_executor executor, const process_request& what,
        const std::filesystem::path& folder, bool open_input,
        process_events events);
  explicit toy_process(boost::asio::any_io_executor executor);
  ~toy_process() override;

  std::int32_t pid() const override { return pid_; }
  result<void> write(std::string bytes) override;
  void close_input() override;
  result<void> signal(std::int32_t number) override;
  result<void> resize(terminal_size to) override;

private:
  using descriptor = boost::asio::posix::stream_descriptor;

  struct stream {
    explicit stream(const boost::asio::any_io_executor& executor)
        : from{executor} {}
    descriptor from;
    std::array<char, 4096> some{};
    bool open = true;
  };

  void read(stream& which, output_stream name);
  void feed();
  void wait();
  void reap();
  void publish_end();

  static constexpr std::size_t most_waiting = 1u << 20;

  descriptor in_;
  stream out_;
  stream err_;
  descriptor pidfd_;
  std::int32_t pid_ = 0;
  std::string waiting_; // for it to read
  bool feeding_ = false;
  bool close_when_fed_ = false;
  bool reaped_ = false;
  bool at_terminal_ = false; // not a real one
  process_end end_;
  process_events events_;
};

} // namespace troupe::test
