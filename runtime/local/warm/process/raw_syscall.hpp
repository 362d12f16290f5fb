#pragma once

namespace troupe::zygote {

/// A call of the kernel that leaves errno alone, for who shares a thread's
/// memory with somebody at work: minus the error where it fails.
inline long bare_call(long number, long a = 0, long b = 0, long c = 0,
                      long d = 0) noexcept {
#if defined(__x86_64__)
  long result;
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long result asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long call asm("x8") = number;
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(second), "r"(third), "r"(fourth), "r"(call)
               : "memory");
  return result;
#else
#error "say how the kernel is called"
#endif
}

template <class T>
long bits(T* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

} // namespace troupe::zygote
