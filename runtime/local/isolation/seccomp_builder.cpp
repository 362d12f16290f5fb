#include "runtime/local/isolation/seccomp_builder.hpp"

#include <linux/audit.h>

namespace troupe::isolation {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native = AUDIT_ARCH_AARCH64;
#else
#error "name the audit architecture of this machine"
#endif

/// Set in the numbers of x32, a second ABI of the same architecture.
constexpr std::uint32_t x32_bit = 0x4000'0000;

constexpr std::uint16_t load = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t if_equal = BPF_JMP | BPF_JEQ | BPF_K;
constexpr std::uint16_t if_not_less = BPF_JMP | BPF_JGE | BPF_K;
constexpr std::uint16_t if_any_bit = BPF_JMP | BPF_JSET | BPF_K;

sock_filter jump(std::uint16_t code, std::uint32_t value, std::uint8_t yes,
                 std::uint8_t no) noexcept {
  return {code, yes, no, value};
}

sock_filter load_word(std::size_t offset) noexcept {
  return {load, 0, 0, static_cast<std::uint32_t>(offset)};
}

} // namespace

sock_filter ret(std::uint32_t verdict) noexcept {
  return {BPF_RET | BPF_K, 0, 0, verdict};
}

sock_filter load_low(unsigned argument) noexcept {
  return load_word(offsetof(seccomp_data, args) + 8 * argument);
}

sock_filter load_high(unsigned argument) noexcept {
  return load_word(offsetof(seccomp_data, args) + 8 * argument + 4);
}

sock_filter skip_unless_equal(std::uint32_t value) noexcept {
  return jump(if_equal, value, 0, 1);
}

sock_filter skip_unless_any_bit(std::uint32_t bits) noexcept {
  return jump(if_any_bit, bits, 0, 1);
}

seccomp_builder::seccomp_builder(std::uint32_t fallback) : fallback_{fallback} {
  verdicts_.fill(fallback);
  bodies_.fill(-1);
}

void seccomp_builder::set(std::uint32_t verdict,
                          std::initializer_list<long> calls) {
  for (long call : calls) {
    auto i = static_cast<std::size_t>(call);
    if (i < known_calls) {
      verdicts_[i] = verdict;
      bodies_[i] = -1;
    }
  }
}

void seccomp_builder::set(long call, program body) {
  auto i = static_cast<std::size_t>(call);
  if (i >= known_calls)
    return;
  bodies_[i] = static_cast<int>(programs_.size());
  programs_.push_back(std::move(body));
}

bool seccomp_builder::same(std::size_t a, std::size_t b) const noexcept {
  return bodies_[a] == bodies_[b]
    && (bodies_[a] >= 0 || verdicts_[a] == verdicts_[b]);
}

seccomp_builder::program seccomp_builder::build() const {
  program out;
  out.push_back(load_word(offsetof(seccomp_data, arch)));
  out.push_back(jump(if_equal, native, 1, 0));
  out.push_back(ret(SECCOMP_RET_KILL_PROCESS));
  out.push_back(load_word(offsetof(seccomp_data, nr)));
  out.push_back(jump(if_not_less, x32_bit, 0, 1));
  out.push_back(ret(SECCOMP_RET_KILL_PROCESS));
  out.push_back(jump(if_not_less, known_calls, 0, 1));
  out.push_back(ret(fallback_));
  emit(out, 0, known_calls);
  return out;
}

void seccomp_builder::emit(program& out, std::size_t first,
                           std::size_t last) const {
  // The borders between different verdicts; bisect at the middle one.
  std::vector<std::size_t> borders;
  for (std::size_t i = first + 1; i < last; ++i)
    if (!same(i - 1, i))
      borders.push_back(i);
  if (borders.empty()) {
    if (bodies_[first] < 0) {
      out.push_back(ret(verdicts_[first]));
    } else {
      const auto& body = programs_[static_cast<std::size_t>(bodies_[first])];
      out.insert(out.end(), body.begin(), body.end());
    }
    return;
  }
  auto border = borders[borders.size() / 2];
  // Conditional jumps reach 255 instructions, the unconditional one any
  // distance: over the left half.
  out.push_back(jump(if_not_less, static_cast<std::uint32_t>(border), 0, 1));
  auto over = out.size();
  out.push_back({BPF_JMP | BPF_JA, 0, 0, 0});
  emit(out, first, border);
  out[over].k = static_cast<std::uint32_t>(out.size() - over - 1);
  emit(out, border, last);
}

} // namespace troupe::isolation
