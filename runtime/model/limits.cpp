#include "runtime/model/limits.hpp"

#include <algorithm>

namespace troupe {

limits apply(limits base, const limit_overrides& said, const limits& ceiling) {
  auto settle = [](auto& value, const auto& wanted, const auto& highest) {
    value = std::min(wanted.value_or(value), highest);
  };
  settle(base.wall, said.wall, ceiling.wall);
  settle(base.cpu, said.cpu, ceiling.cpu);
  settle(base.memory_bytes, said.memory_bytes, ceiling.memory_bytes);
  settle(base.processes, said.processes, ceiling.processes);
  settle(base.open_files, said.open_files, ceiling.open_files);
  settle(base.disk_bytes, said.disk_bytes, ceiling.disk_bytes);
  settle(base.inodes, said.inodes, ceiling.inodes);
  settle(base.output_bytes, said.output_bytes, ceiling.output_bytes);
  settle(base.result_bytes, said.result_bytes, ceiling.result_bytes);
  return base;
}

} // namespace troupe
