#include "runtime/local/warden/launch_block.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace troupe {

namespace {

/// Layout: this, then `arguments` + `variables` strings, each with its NUL.
struct block_header {
  std::uint32_t magic;
  std::uint32_t arguments;
  std::uint32_t variables;
  std::uint32_t bytes; // of all strings
};

constexpr std::uint32_t block_magic = 0x74726c62; // "trlb"
constexpr std::uint32_t max_strings = 8'192;

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    auto n = ::write(fd, data, size);
    if (n <= 0)
      return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

result<void> check(const std::vector<std::string>& argv, std::size_t variables,
                   std::size_t bytes) {
  if (argv.empty() || argv.front().empty())
    return bad_field("/argv", "no program to execute");
  for (const auto& a : argv)
    if (a.find('\0') != std::string::npos)
      return bad_field("/argv", "an argument contains a NUL byte");
  if (argv.size() + variables > max_strings || bytes > max_launch_block)
    return bad_field("/env",
                     "arguments and variables are larger than "
                       + std::to_string(max_launch_block >> 20) + " MiB",
                     "pass large data as arguments of the tool");
  return {};
}

} // namespace

result<unique_fd>
make_launch_block(const std::vector<std::string>& argv,
                  const std::vector<std::pair<std::string, secret>>& env) {
  std::size_t bytes = 0;
  for (const auto& a : argv)
    bytes += a.size() + 1;
  for (const auto& [name, value] : env)
    bytes += name.size() + value.size() + 2;
  if (auto good = check(argv, env.size(), bytes); !good)
    return good.error();
  block_header header{block_magic, static_cast<std::uint32_t>(argv.size()),
                      static_cast<std::uint32_t>(env.size()),
                      static_cast<std::uint32_t>(bytes)};
  std::string text;
  text.reserve(sizeof header + bytes); // no copy of a secret is left behind
  text.append(reinterpret_cast<const char*>(&header), sizeof header);
  for (const auto& a : argv)
    text.append(a).push_back('\0');
  for (const auto& [name, value] : env) {
    text.append(name).push_back('=');
    text.append(value.reveal()).push_back('\0');
  }
  unique_fd block{::memfd_create("launch", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  bool good = block && write_all(block.get(), text.data(), text.size())
    && ::fcntl(block.get(), F_ADD_SEALS,
               F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
      == 0;
  int error = errno;
  wipe(text.data(), text.size());
  if (!good)
    return troupe::error{.code = ec::exhausted,
                         .text = std::string{"make a launch block: "}
                           + std::strerror(error),
                         .fields = {},
                         .retry_after = {}};
  return block;
}

int execute_launch_block(int block) noexcept {
  struct stat about {};
  if (::fstat(block, &about) != 0)
    return errno;
  auto size = static_cast<std::size_t>(about.st_size);
  if (size < sizeof(block_header)
      || size > sizeof(block_header) + max_launch_block)
    return EINVAL;
  auto* base = static_cast<char*>(
    ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, block, 0));
  if (base == MAP_FAILED)
    return errno;
  block_header header;
  std::memcpy(&header, base, sizeof header);
  if (header.magic != block_magic || header.arguments == 0
      || header.arguments + std::size_t{header.variables} > max_strings
      || header.bytes != size - sizeof header || base[size - 1] != '\0')
    return EINVAL;
  auto* pointers = static_cast<char**>(
    ::mmap(nullptr, (max_strings + 2) * sizeof(char*), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pointers == MAP_FAILED)
    return errno;
  std::size_t used = 0;
  char* at = base + sizeof header;
  char* end = base + size;
  for (std::uint32_t i = 0; i < header.arguments + header.variables; ++i) {
    if (i == header.arguments)
      pointers[used++] = nullptr;
    if (at >= end)
      return EINVAL;
    pointers[used++] = at;
    at += std::strlen(at) + 1; // the last byte is a NUL: stays inside
  }
  if (header.variables == 0)
    pointers[used++] = nullptr;
  pointers[used] = nullptr;
  // A name without a slash is looked for along the new PATH, not along ours.
  environ = pointers + header.arguments + 1;
  ::execvpe(pointers[0], pointers, environ);
  return errno;
}

} // namespace troupe
