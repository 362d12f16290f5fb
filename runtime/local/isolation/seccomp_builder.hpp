#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace troupe::isolation {

/// Builds a classic BPF program over `seccomp_data`: a verdict per call number,
/// found by bisection, so that a call costs a handful of comparisons and the
/// kernel compiles little. Calls whose arguments matter get a small program of
/// their own.
class seccomp_builder {
public:
  using program = std::vector<sock_filter>;

  /// Numbers from here on are unknown to this build: `fallback`.
  static constexpr std::size_t known_calls = 512;

  explicit seccomp_builder(std::uint32_t fallback);

  /// The verdict for these calls, replacing an earlier one.
  void set(std::uint32_t verdict, std::initializer_list<long> calls);
  /// `body` must end in a return on every way.
  void set(long call, program body);

  /// With the checks of architecture and x32 in front.
  program build() const;

private:
  void emit(program& out, std::size_t first, std::size_t last) const;
  bool same(std::size_t a, std::size_t b) const noexcept;

  std::uint32_t fallback_;
  std::array<std::uint32_t, known_calls> verdicts_;
  std::array<int, known_calls> bodies_; // index into `programs_`, -1: none
  std::vector<program> programs_;
};

// -- pieces of a body --------------------------------------------------------

inline constexpr auto allow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t deny_with(int error) noexcept {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & 0xffffu);
}

sock_filter ret(std::uint32_t verdict) noexcept;
/// Loads the lower half of an argument. What the kernel takes as an int must
/// be compared as one, or the upper half walks around the comparison.
sock_filter load_low(unsigned argument) noexcept;
sock_filter load_high(unsigned argument) noexcept;
/// Goes on with the next instruction if equal, else skips it.
sock_filter skip_unless_equal(std::uint32_t value) noexcept;
sock_filter skip_unless_any_bit(std::uint32_t bits) noexcept;

} // namespace troupe::isolation
