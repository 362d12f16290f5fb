#pragma once

#include "runtime/engine/kernel_image.hpp"
#include "runtime/engine/sandbox.hpp"
#include "runtime/model/sandbox_context.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct kernel_request {
  context_language language = context_language::python;
  std::string cwd;                        // "": the sandbox's own
  std::map<std::string, std::string> env; // beside the sandbox's own
  /// That it begins as, in the working directory of that one, with `env` over
  /// its variables; null: a fresh one.
  kernel_image_ptr image{};
};

/// How a cell ended, as its interpreter says.
struct kernel_answer {
  cell_status status = cell_status::ok; // ok, error or interrupted
  std::uint64_t execution_count = 0;
};

/// What an interpreter tells. Called on the provider's executor. What comes is
/// a tenant's word: bounded and parsed, and no more than that.
struct kernel_events {
  output_sink output; // of the cell, and of what earlier ones left running
  std::function<void(cell_event)> told;
  std::function<void(kernel_answer)> done; // once for each cell
  /// Exactly once and last, also when its sandbox goes away.
  std::function<void(result<process_end>)> ended;
};

/// An interpreter in a sandbox: one process, that keeps what cells define until
/// it ends. On the provider's executor.
class sandbox_kernel {
public:
  virtual ~sandbox_kernel() = default;
  virtual std::int32_t pid() const = 0; // inside
  /// What its image had and it has not: open files that are not in its sandbox,
  /// processes. A tenant's word.
  virtual std::vector<std::string> lost() const { return {}; }
  /// Begins a cell; `conflict` while there is one.
  virtual result<void> run(const std::string& code) = 0;
  /// Asks the cell to stop. What it has defined stays.
  virtual void interrupt() = 0;
  /// With everything that it started.
  virtual void kill() = 0;
};

} // namespace troupe
