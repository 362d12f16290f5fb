#pragma once

#include "net/api/shared/pulled_stream.hpp"
#include "runtime/engine/sandbox_trees.hpp"

namespace troupe::net {

/// What happens to the files of a sandbox, as it happens.
class sandbox_watch_stream final : public pulled_stream {
public:
  sandbox_watch_stream(exchange_ptr ex, sandbox_watch_ptr watch,
                       stream_format format)
      : pulled_stream{std::move(ex), format}, watch_{std::move(watch)} {}

private:
  bool step() override;
  void left() override { watch_->close(); }

  const sandbox_watch_ptr watch_;
};

} // namespace troupe::net
