#include "runtime/local/warm/python/heap/python_memory.hpp"

#include <initializer_list>

namespace troupe::zygote {

python_allocator wrapped_python[3];

bool wrap_python_memory(python_allocator objects, python_allocator raw) {
  const auto get = find_python_allocator("PyMem_GetAllocator");
  const auto set = find_python_allocator("PyMem_SetAllocator");
  if (!get || !set)
    return false;
  for (int domain : {mem_domain, object_domain, raw_domain}) {
    auto& with = domain == raw_domain ? raw : objects;
    get(domain, &wrapped_python[domain]);
    with.context = &wrapped_python[domain];
    set(domain, &with);
  }
  return true;
}

} // namespace troupe::zygote
