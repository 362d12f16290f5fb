#pragma once

#include "bench/local/naive.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/local/local_backend.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace troupe::bench {

/// Where runs of Node come from.
enum class node_start : std::uint8_t { fork, ready, cold };

/// A local backend as the engine has it, measured from `start` to `finished`.
class local_engine {
public:
  /// `preforked`: how many children wait warmed while nothing runs. `python`:
  /// "" for the host's own; `preload`: more modules for it to have imported.
  /// `learned_in`: where engines share what they learn about runs.
  explicit local_engine(std::uint32_t preforked, std::string python = {},
                        const std::vector<std::string>& preload = {},
                        node_start node = node_start::fork,
                        const warm_optimizations& on = {},
                        const std::string& learned_in = {});
  ~local_engine();

  /// Keeps `at_a_time` runs in flight until all calls are done.
  batch run(const local_tool& tool, isolation_level level, std::size_t calls,
            std::size_t at_a_time);
  /// One call after the other with nothing in between for so long.
  batch run_spaced(const local_tool& tool, std::size_t calls,
                   std::chrono::milliseconds gap);

  /// For an engine around it.
  std::shared_ptr<backend> carrier() const { return backend_; }
  io_thread& sockets() { return io_; }

  /// Until that interpreter is warm; false if it never will be.
  bool warm_up(const local_tool& tool);

  zygote::slot_counts slots(zygote::family of = zygote::family::python) const {
    return backend_->slots(of);
  }
  ready_counts ready_nodes() const { return backend_->ready_nodes(); }
  /// Bytes that all runs of this engine use now, 0 where nobody counts.
  std::uint64_t memory() const;

private:
  double cpu() const;
  void wait_until_learned() const;

  io_thread io_;
  std::string state_dir_; // empty: somebody else's
  std::shared_ptr<local_backend> backend_;
  std::string cpu_file_;
  std::string memory_file_;
};

/// Of one process, its part of what it shares; in MB, NaN if unknown.
double proportional_memory(std::int32_t pid);

} // namespace troupe::bench
