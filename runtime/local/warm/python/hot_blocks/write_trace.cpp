// Memory to be watched is made read-only. A write to it is a fault, which is
// noted; the page is made writable for one instruction, after which the
// processor stops once more and the page is made read-only again. A page that
// is written to all the time stays writable for the rest of a phase: what else
// lies on it and is hot as well, shows in the others.
#include "runtime/local/warm/python/hot_blocks/write_trace.hpp"

#include "runtime/local/warm/memory/pagemap.hpp"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <iterator>

namespace troupe::zygote {

namespace {

struct range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

constexpr uintptr_t grain = 16;
constexpr size_t capacity = 1u << 17; // a run writes to some thousand places
constexpr int most_ranges = 16;
constexpr int most_open = 4;       // an instruction may write to two pages
constexpr uint32_t patience = 300; // writes to a page, per phase
constexpr greg_t single_step = 0x100;

range watched[most_ranges];
int ranges = 0;
traced_write* seen = nullptr;
size_t seen_count = 0;
uint32_t phase = 1;
uint32_t writes[1u << 12]; // by page, more or less
uintptr_t open_pages[most_open];
int open_count = 0;
char handler_stack[64 << 10];

bool is_watched(uintptr_t address) {
  for (int i = 0; i < ranges; ++i)
    if (watched[i].begin <= address && address < watched[i].end)
      return true;
  return false;
}

void protect(range what, int mode) {
  mprotect(reinterpret_cast<void*>(what.begin), what.end - what.begin, mode);
}

void note(uintptr_t address) {
  address &= ~(grain - 1);
  auto at = (address >> 4) * 0x9e3779b97f4a7c15u >> 40 & (capacity - 1);
  while (seen[at].address != 0 && seen[at].address != address)
    at = (at + 1) & (capacity - 1);
  if (seen[at].address == 0 && seen_count++ > capacity / 2)
    return; // enough is known
  seen[at].address = address;
  seen[at].phases |= phase;
}

#ifdef __x86_64__

void on_write(int, siginfo_t* about, void* at) {
  const auto address = reinterpret_cast<uintptr_t>(about->si_addr);
  if (!is_watched(address) || open_count == most_open) {
    signal(SIGSEGV, SIG_DFL); // a fault of its own
    return;
  }
  note(address);
  const auto first = address & ~(page - 1);
  protect({first, first + page}, PROT_READ | PROT_WRITE);
  open_pages[open_count++] = first;
  static_cast<ucontext_t*>(at)->uc_mcontext.gregs[REG_EFL] |= single_step;
}

void on_step(int, siginfo_t*, void* at) {
  static_cast<ucontext_t*>(at)->uc_mcontext.gregs[REG_EFL] &= ~single_step;
  while (open_count > 0) {
    const auto first = open_pages[--open_count];
    if (++writes[first / page % std::size(writes)] < patience)
      protect({first, first + page}, PROT_READ);
  }
}

bool can_step() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_write;
  sigaction(SIGSEGV, &action, nullptr);
  action.sa_sigaction = on_step;
  sigaction(SIGTRAP, &action, nullptr);
  return true;
}

#else

bool can_step() {
  return false;
}

#endif

} // namespace

void trace_writes_to(uintptr_t begin, uintptr_t end) {
  begin = (begin + page - 1) & ~(page - 1);
  end &= ~(page - 1);
  if (begin < end && ranges < most_ranges)
    watched[ranges++] = {begin, end};
}

bool begin_write_trace() {
  auto* space
    = mmap(nullptr, capacity * sizeof(traced_write), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space == MAP_FAILED)
    return false;
  seen = static_cast<traced_write*>(space);
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  if (!can_step())
    return false;
  for (int i = 0; i < ranges; ++i)
    protect(watched[i], PROT_READ);
  return true;
}

void next_trace_phase() {
  phase <<= 1;
  memset(writes, 0, sizeof writes);
  for (int i = 0; i < ranges; ++i)
    protect(watched[i], PROT_READ);
}

const traced_write* end_write_trace(size_t& count) {
  for (int i = 0; i < ranges; ++i)
    protect(watched[i], PROT_READ | PROT_WRITE);
  count = capacity;
  return seen;
}

} // namespace troupe::zygote
