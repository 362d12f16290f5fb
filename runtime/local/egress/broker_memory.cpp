#include "runtime/local/egress/broker_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe::network {

namespace {

constexpr int of_one_size = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;

void* map_shared(const unique_fd& file, std::size_t size) {
  auto* data
    = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return data == MAP_FAILED ? nullptr : data;
}

} // namespace

result<mapped_memory> mapped_memory::make(const char* name, std::size_t size) {
  unique_fd file{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  void* data = nullptr;
  if (file && ::ftruncate(file.get(), static_cast<off_t>(size)) == 0
      && ::fcntl(file.get(), F_ADD_SEALS, of_one_size) == 0)
    data = map_shared(file, size);
  if (data == nullptr)
    return error{ec::unavailable,
                 std::string{"no shared memory for the network broker: "}
                   + std::strerror(errno),
                 {},
                 {}};
  return mapped_memory{std::move(file), data, size};
}

std::optional<mapped_memory> mapped_memory::map(unique_fd memory,
                                                std::size_t size) {
  struct stat about {};
  if (!memory || ::fstat(memory.get(), &about) != 0
      || static_cast<std::size_t>(about.st_size) < size)
    return std::nullopt;
  auto* data = map_shared(memory, size);
  if (data == nullptr)
    return std::nullopt;
  return mapped_memory{std::move(memory), data, size};
}

mapped_memory::mapped_memory(mapped_memory&& other) noexcept
    : file_{std::move(other.file_)}, data_{std::exchange(other.data_, nullptr)},
      size_{other.size_} {}

mapped_memory::~mapped_memory() {
  if (data_ != nullptr)
    ::munmap(data_, size_);
}

} // namespace troupe::network
