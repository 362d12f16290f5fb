#include "runtime/local/warm/process/isolate.hpp"

#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/warm/process/own_program.hpp"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::zygote {

bool read_plan(int fd, isolation::plan& out) {
  struct stat info;
  if (fstat(fd, &info) != 0 || info.st_size <= 0)
    return false;
  const auto size = static_cast<size_t>(info.st_size);
  auto* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    return false;
  const bool good = isolation::decode(data, size, out);
  munmap(data, size);
  return good;
}

void make_room_for_interpreter(isolation::plan& plan) {
  // Of size, resident, shared, text, libraries, data: the last, which is what
  // RLIMIT_DATA counts. The region of the child allocator is in it.
  unsigned long pages = 0;
  if (auto* file = fopen("/proc/self/statm", "re")) {
    if (fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  for (auto& limit : plan.rlimits)
    if (limit.resource == RLIMIT_DATA)
      limit.value += pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE));
}

isolation::outcome isolate(isolation::plan& plan, const packet& order,
                           const descriptors& with, int go, int* listener) {
  using isolation::step;
  // The only migration in the life of this slot: a run is born in the groups.
  for (std::uint32_t i = 0; i < order.groups; ++i)
    if (write(with.fd[groups_from + i], "0", 1) != 1)
      return isolation::failed(step::cgroup);
  char byte;
  ssize_t got;
  do
    got = read(go, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got != 1)
    return {step::order, EPIPE};
  plan.program = own_program();
  return plan.namespaces_per_run ? isolation::contain_slot(plan, listener)
                                 : isolation::contain(plan, listener);
}

} // namespace troupe::zygote
