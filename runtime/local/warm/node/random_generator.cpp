// Every child needs numbers of its own: in its own realm, in each that the tool
// makes, and in its workers. V8 has a flag for a seed, but all realms and
// workers that are made while it is set begin with that one; without it each
// realm's comes from the isolate's generator, and that is what a child gets
// anew. Workers have generators of their own, which ask the kernel.
//
// Nobody is told where it lies, but everybody can have it draw: the only words
// of the heap that have gone some steps of its sequence are its state. A false
// one would have to agree in 128 bits.
//
// Buys as well: telling V8 in words costs 0.1 ms of a run of 1.7. It looks for
// the flag's name among seven hundred, writes to pages that every child then
// copies, and has to number all flags anew before it can tell whether a tool's
// compiled code was made for them.
#include "runtime/local/warm/node/random_generator.hpp"

#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

namespace troupe::zygote {

namespace {

constexpr int most_steps = 256; // a context's seed takes eight

/// xorshift128+, as V8 steps it (base/utils/random-number-generator.h).
void step(uint64_t& first, uint64_t& second) {
  uint64_t one = first;
  const uint64_t other = second;
  first = other;
  one ^= one << 23;
  one ^= one >> 17;
  one ^= other;
  one ^= other >> 26;
  second = one;
}

bool leads_to(const uint64_t* from, const uint64_t* to) {
  uint64_t first = from[0], second = from[1];
  for (int i = 0; i < most_steps; ++i) {
    step(first, second);
    if (first == to[0] && second == to[1])
      return true;
  }
  return false;
}

mapping libc_heap() {
  char room[map_room];
  map_reader maps{room};
  for (mapping m; maps.next(m);)
    if (m.path == "[heap]")
      return m;
  return {};
}

} // namespace

void random_generator::watch() {
  forget();
  const auto heap = libc_heap();
  auto* copy = mmap(nullptr, heap.size(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED)
    return;
  before_ = static_cast<uint64_t*>(copy);
  begin_ = heap.begin;
  end_ = heap.end;
  const pagemap pages;
  for (auto at = begin_; at < end_; at += page) {
    uint64_t entry = 0; // looking at what is not there would make it
    if (pages.count_present(at, {&entry, 1}) == 1)
      memcpy(before_ + (at - begin_) / sizeof *before_,
             reinterpret_cast<const void*>(at), page);
  }
}

bool random_generator::find() {
  if (!before_)
    return false;
  auto* now = reinterpret_cast<uint64_t*>(begin_);
  const auto words = (end_ - begin_) / sizeof *now;
  uint64_t* found = nullptr;
  int count = 0;
  for (uintptr_t i = 0; i + 1 < words; ++i) {
    const auto* was = before_ + i;
    // Neither is ever zero, which is what was not there before.
    if (was[0] == 0 || was[1] == 0 || was[0] == now[i] || was[1] == now[i + 1])
      continue;
    if (leads_to(was, now + i)) {
      found = now + i;
      ++count;
    }
  }
  forget();
  state_ = count == 1 ? found : nullptr;
  return state_ != nullptr;
}

bool random_generator::renew() const {
  if (!state_)
    return false;
  uint64_t drawn[2] = {};
  while (drawn[0] == 0 || drawn[1] == 0)
    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
      return false;
  memcpy(state_, drawn, sizeof drawn);
  return true;
}

void random_generator::forget() {
  if (before_)
    munmap(before_, end_ - begin_);
  before_ = nullptr;
}

} // namespace troupe::zygote
