// A profile is a file of the names of those blocks that runs write to.
#include "runtime/local/warm/python/hot_blocks/allocation_ids.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

struct header {
  char magic[8];
  uint64_t names;
};
constexpr char magic[8] = {'t', 'r', 'p', 'h', 'o', 't', '0', '3'};
constexpr uint64_t most_names = 20'000;

} // namespace

std::vector<block_name> read_names(const char* path) {
  std::vector<block_name> names;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return names;
  header head{};
  if (read(file, &head, sizeof head) == sizeof head
      && memcmp(head.magic, magic, sizeof magic) == 0
      && head.names <= most_names) {
    names.resize(head.names);
    const auto bytes = names.size() * sizeof(block_name);
    if (read(file, names.data(), bytes) != static_cast<ssize_t>(bytes))
      names.clear();
  }
  close(file);
  std::erase_if(names, [](const block_name& n) {
    return n.size_class >= named_classes || n.where >= parts || n.number == 0;
  });
  std::sort(names.begin(), names.end());
  return names;
}

int write_names(const char* path, std::vector<block_name> names) {
  if (names.size() > most_names)
    names.resize(most_names);
  header head{};
  memcpy(head.magic, magic, sizeof magic);
  head.names = names.size();
  char draft[4096];
  snprintf(draft, sizeof draft, "%s.%d", path, getpid());
  const int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto bytes = names.size() * sizeof(block_name);
  const bool good = write(file, &head, sizeof head) == sizeof head
    && write(file, names.data(), bytes) == static_cast<ssize_t>(bytes);
  close(file);
  if (!good || rename(draft, path) != 0) {
    unlink(draft);
    return 0;
  }
  return static_cast<int>(names.size());
}

} // namespace troupe::zygote
