#include "runtime/local/warm/memory/private_pages.hpp"

#include "runtime/local/warm/memory/pagemap.hpp"

#include <algorithm>

namespace troupe::zygote {

namespace {

constexpr size_t chunk = sizeof page_scratch::entries
  / sizeof *page_scratch::entries; // of pages, read at a time

/// Reads up to a chunk of entries; returns how many, 0 if none can be read.
size_t read_entries(const pagemap& pages, uintptr_t at, uintptr_t end,
                    page_scratch& with) {
  const auto wanted = std::min<size_t>((end - at) / page, chunk);
  return pages.read(at, {with.entries, wanted});
}

bool has_pages(const pagemap& pages, uintptr_t at, uintptr_t end,
               page_scratch& with) {
  const auto count = read_entries(pages, at, end, with);
  return std::any_of(with.entries, with.entries + count, [](uint64_t entry) {
    return (entry & pagemap::present) != 0;
  });
}

bool add_range(const pagemap& pages, uintptr_t begin, uintptr_t end,
               page_list& out, page_scratch& with) {
  for (auto at = begin; at < end;) {
    const auto count = read_entries(pages, at, end, with);
    if (count == 0)
      return false;
    for (size_t i = 0; i < count; ++i) {
      const auto entry = with.entries[i];
      if ((entry & pagemap::present) == 0 || (entry & pagemap::of_a_file) != 0
          || (entry & pagemap::mapped_once) == 0)
        continue;
      if (out.count == out.most)
        return false;
      out.page[out.count++] = at + i * page;
    }
    at += count * page;
  }
  return true;
}

/// A gigabyte of addresses that is somebody's reserve is used from its ends;
/// asking about all of it would take milliseconds.
bool add_mapping(const pagemap& pages, uintptr_t begin, uintptr_t end,
                 page_list& out, page_scratch& with) {
  constexpr auto step = chunk * page;
  auto front = begin, back = end;
  while (front < end && has_pages(pages, front, end, with))
    front = std::min(front + step, end);
  while (back > front
         && has_pages(pages, std::max(front, back - std::min(back, step)), back,
                      with))
    back = std::max(front, back - std::min(back, step));
  return add_range(pages, begin, front, out, with)
    && add_range(pages, back, end, out, with);
}

} // namespace

bool list_own_pages(page_list& out, page_scratch& with) {
  out.count = 0;
  const pagemap pages;
  map_reader maps{with.maps};
  for (mapping m; maps.next(m);)
    if ((m.protection & PROT_WRITE) != 0 && !m.shared
        && !add_mapping(pages, m.begin, m.end, out, with))
      return false;
  return !maps.failed();
}

} // namespace troupe::zygote
