#pragma once

#include "net/api/shared/run_stream.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

/// One build's lines on their way to one client, from any thread. A reader that
/// falls behind loses lines and is told how many, but never the end.
class environment_build_stream
    : public std::enable_shared_from_this<environment_build_stream> {
public:
  environment_build_stream(exchange_ptr ex, stream_format format)
      : ex_{std::move(ex)}, format_{format} {}

  void open() { open_stream(*ex_, format_); }
  void line(std::string_view text);
  /// `environment`: what came of it, as JSON.
  void end(std::string environment);

private:
  bool may_write(); // else it will be called back
  void caught_up();
  void write_line(std::string_view text);
  void write_end();
  void send(std::string_view event, std::string data);

  std::mutex mutex_;
  exchange_ptr ex_;
  const stream_format format_;
  std::size_t left_out_ = 0;
  std::optional<std::string> end_;
  bool waiting_ = false;
};

} // namespace troupe::net
