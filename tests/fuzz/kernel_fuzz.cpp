// What an interpreter of a context writes, which is a tenant's. Whatever is
// accepted is bounded, and is text.
#include "runtime/json/json.hpp"
#include "runtime/local/sandbox/contexts/kernel_frames.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  kernels::frame_reader reader;
  const auto half = bytes.size() / 2;
  for (auto piece : {bytes.substr(0, half), bytes.substr(half)}) {
    reader.append(piece);
    kernels::frame next;
    while (reader.next(next) == kernels::frame_reader::status::whole) {
      demand(next.parts.size() <= bounds::bundle_parts);
      kernels::cell_end end;
      if (kernels::read_end(next, end))
        demand(end.status > cell_status::running);
      cell_event event;
      if (!kernels::read_event(next, event))
        continue;
      demand(event.bytes() <= 4 * bounds::bundle_bytes);
      for (const auto& [mime, content] : event.data)
        demand(json::is_utf8(content));
    }
  }
  return 0;
}
