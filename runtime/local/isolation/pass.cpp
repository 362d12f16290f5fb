#include "runtime/local/isolation/pass.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 // Linux 4.14
#endif

namespace troupe::isolation {

namespace {

const volatile std::uint64_t* pass = nullptr;

const volatile std::uint64_t* make_pass() noexcept {
  constexpr std::size_t page = 4096;
  auto* at = ::mmap(nullptr, page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return nullptr;
  auto* word = static_cast<std::uint64_t*>(at);
  if (::madvise(at, page, MADV_WIPEONFORK) != 0
      || ::getrandom(word, sizeof *word, 0) != sizeof *word
      || ::mprotect(at, page, PROT_READ) != 0) {
    const int error = errno;
    ::munmap(at, page);
    errno = error;
    return nullptr;
  }
  return word;
}

/// Who shows nothing shows zero, which lets nobody through.
constexpr std::uint64_t nothing = 0;

/// What a compiler may have left of it below us on the stack.
[[gnu::noinline]] void wipe_stack() noexcept {
  char below[4096];
  ::explicit_bzero(below, sizeof below);
}

} // namespace

bool issue_pass(std::vector<sock_filter>& filter) noexcept {
  pass = make_pass();
  if (pass == nullptr || *pass == nothing)
    return false;
  for (auto& instruction : filter)
    if (instruction.k == static_cast<std::uint32_t>(blank_pass))
      instruction.k = static_cast<std::uint32_t>(*pass);
    else if (instruction.k == static_cast<std::uint32_t>(blank_pass >> 32))
      instruction.k = static_cast<std::uint32_t>(*pass >> 32);
  return true;
}

void forget(std::vector<sock_filter>& filter) noexcept {
  ::explicit_bzero(filter.data(), filter.size() * sizeof filter.front());
  filter.clear();
  wipe_stack();
}

// In a register and nowhere else: what libc's wrapper takes from the stack, a
// run would find on its copy of it.
long call_with_pass(long number, std::array<long, 5> a) noexcept {
#if defined(__x86_64__)
  long result;
  register long fourth asm("r10") = a[3];
  register long fifth asm("r8") = a[4];
  register std::uint64_t sixth asm("r9") = pass != nullptr ? *pass : nothing;
  asm volatile("syscall\n\txorl %%r9d, %%r9d"
               : "=a"(result), "+r"(sixth)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth),
                 "r"(fifth)
               : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long result asm("x0") = a[0];
  register long second asm("x1") = a[1];
  register long third asm("x2") = a[2];
  register long fourth asm("x3") = a[3];
  register long fifth asm("x4") = a[4];
  register std::uint64_t sixth asm("x5") = pass != nullptr ? *pass : nothing;
  register long call asm("x8") = number;
  asm volatile("svc #0\n\tmov x5, xzr"
               : "+r"(result), "+r"(sixth)
               : "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(call)
               : "memory");
#else
#error "say where the sixth argument of a call goes"
#endif
  constexpr long last_error = -4095;
  if (result >= last_error && result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

} // namespace troupe::isolation
