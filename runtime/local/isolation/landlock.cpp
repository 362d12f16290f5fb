#include "runtime/local/isolation/landlock.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace troupe::isolation {

namespace {

// Spelled out: the headers of the build host may be older than the kernel.
struct ruleset {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};

struct [[gnu::packed]] rule {
  std::uint64_t allowed;
  std::int32_t parent;
};

constexpr std::uint64_t execute = 1ull << 0;
constexpr std::uint64_t write_file = 1ull << 1;
constexpr std::uint64_t read_file = 1ull << 2;
constexpr std::uint64_t read_directory = 1ull << 3;
constexpr std::uint64_t version_1 = (1ull << 13) - 1;
constexpr std::uint64_t refer = 1ull << 13;             // version 2
constexpr std::uint64_t truncate = 1ull << 14;          // version 3
constexpr std::uint64_t scope_abstract_and_signals = 3; // version 6

constexpr unsigned ask_version = 1;
constexpr int path_beneath = 1;

int create(const ruleset* rules, std::size_t size, unsigned flags) noexcept {
  return static_cast<int>(
    ::syscall(SYS_landlock_create_ruleset, rules, size, flags));
}

bool grant(int rules, const char* path, std::uint64_t rights) noexcept {
  int fd = ::open(path, O_PATH | O_CLOEXEC);
  if (fd < 0)
    return false;
  rule r{rights, fd};
  auto code = ::syscall(SYS_landlock_add_rule, rules, path_beneath, &r, 0);
  ::close(fd);
  return code == 0;
}

} // namespace

int landlock_version() noexcept {
  int version = create(nullptr, 0, ask_version);
  return version < 0 ? 0 : version;
}

outcome restrict_files(const char* const* writable, int count) noexcept {
  int version = landlock_version();
  if (version == 0)
    return failed(step::landlock);
  std::uint64_t all = version_1;
  if (version >= 2)
    all |= refer;
  if (version >= 3)
    all |= truncate;
  ruleset wanted{all, 0, version >= 6 ? scope_abstract_and_signals : 0};
  // Older kernels know a shorter struct and refuse what they do not know.
  std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  int rules = create(&wanted, size, 0);
  if (rules < 0)
    return failed(step::landlock);
  auto device = read_file | write_file | (all & truncate);
  bool good = grant(rules, "/", execute | read_file | read_directory)
    && grant(rules, "/dev", device) && grant(rules, "/tmp", all)
    && grant(rules, "/dev/shm", all);
  for (int i = 0; good && i < count; ++i)
    good = grant(rules, writable[i], all);
  if (good)
    good = ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  if (!good) {
    auto no = failed(step::landlock);
    ::close(rules);
    return no;
  }
  ::close(rules);
  return {};
}

} // namespace troupe::isolation
