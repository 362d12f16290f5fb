#include "runtime/local/warm/python/hot_blocks/learn_hot_blocks.hpp"

#include "runtime/local/warm/python/hot_blocks/allocation_log.hpp"
#include "runtime/local/warm/python/hot_blocks/write_trace.hpp"

#include <vector>

namespace troupe::zygote {

int learn_hot_blocks(const char* profile, std::span<const address_range> heap,
                     sample_runs& runs) {
  for (const auto& part : heap)
    trace_writes_to(part.begin, part.end);
  if (!begin_write_trace())
    return 0;
  runs.become_child();
  constexpr uint32_t at_birth = 1;
  uint32_t in_each = 0;
  for (int i = 0; i < runs.count(); ++i) {
    next_trace_phase();
    in_each |= at_birth << (i + 1);
    runs.run(i);
  }
  size_t size = 0;
  const auto* seen = end_write_trace(size);
  std::vector<written_address> written;
  for (size_t i = 0; i < size; ++i)
    if (const auto& w = seen[i]; w.address != 0)
      written.push_back(
        {w.address,
         (w.phases & at_birth) != 0 || (w.phases & in_each) == in_each});
  return write_profile(profile, written.data(), written.size());
}

} // namespace troupe::zygote
