// Headers of archives that go into sandboxes. What is accepted is bounded by
// its fields, and what is encoded of it means the same.
#include "runtime/local/sandbox/inside/file_search.hpp"
#include "runtime/local/sandbox/inside/tar_header.hpp"

#include <cstdlib>

namespace tar = troupe::inside::tar;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  tar::header h;
  (void)tar::apply_attributes(bytes, h);
  const auto half = size / 2;
  (void)troupe::inside::matches_name(bytes.substr(0, half), bytes.substr(half));
  if (tar::decode(bytes.substr(0, tar::block), h) != tar::decoded::good)
    return 0;
  demand(h.mode <= 0777 && h.path.size() <= 256 && h.target.size() <= 100);
  if (h.type != tar::file && h.type != tar::link)
    return 0;
  const auto again = tar::encode(h);
  demand(again.size() % tar::block == 0);
  tar::header last;
  demand(
    tar::decode(std::string_view{again}.substr(again.size() - tar::block), last)
    == tar::decoded::good);
  demand(last.mode == h.mode && last.target == h.target);
  return 0;
}
