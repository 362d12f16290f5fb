// Finds out what `hot_blocks` has to know: remembers the name of each block
// that there is, so that an address that was written to can be named.
#include "runtime/local/warm/python/hot_blocks/allocation_log.hpp"

#include "runtime/local/warm/python/heap/python_memory.hpp"
#include "runtime/local/warm/python/hot_blocks/allocation_ids.hpp"

#include <map>
#include <utility>
#include <vector>

namespace troupe::zygote {

namespace {

struct known {
  block_name what;
  size_t size;
};
using blocks = std::map<uintptr_t, known>;
blocks* alive = nullptr;

void remember(void* p, block_name what, size_t size) {
  if (p)
    (*alive)[reinterpret_cast<uintptr_t>(p)] = {what, size};
}

void* remember_new(void* p, size_t size) {
  if (size <= largest_named)
    remember(p, blocks_asked.add(size), size);
  return p;
}

void* learning_malloc(void* context, size_t size) {
  return remember_new(pass_malloc(context, size), size);
}

void* learning_lock(void* context, size_t size) {
  return size == lock_size ? learning_malloc(context, size)
                           : pass_malloc(context, size);
}

void* learning_calloc(void* context, size_t count, size_t each) {
  return remember_new(pass_calloc(context, count, each), count * each);
}

void learning_free(void* context, void* p) {
  alive->erase(reinterpret_cast<uintptr_t>(p));
  pass_free(context, p);
}

/// It keeps its name wherever it moves.
void* learning_realloc(void* context, void* p, size_t size) {
  if (!p)
    return learning_malloc(context, size);
  const auto node = alive->extract(reinterpret_cast<uintptr_t>(p));
  auto* q = pass_realloc(context, p, size);
  if (node)
    remember(q ? q : p, node.mapped().what, q ? size : node.mapped().size);
  return q;
}

} // namespace

bool remember_blocks() {
  alive = new blocks;
  return wrap_python_memory(
    {nullptr, learning_malloc, learning_calloc, learning_realloc,
     learning_free},
    {nullptr, learning_lock, pass_calloc, pass_realloc, learning_free});
}

int write_profile(const char* path, const written_address* written,
                  size_t count) {
  std::map<uintptr_t, block_name> hot; // by address, so that neighbours stay so
  for (size_t i = 0; alive && i < count; ++i) {
    auto at = alive->upper_bound(written[i].address);
    if (at == alive->begin())
      continue;
    --at;
    if (written[i].address >= at->first + at->second.size)
      continue;
    auto& n = hot.emplace(at->first, at->second.what).first->second;
    // A large one would take the room of all others in the other part.
    if (written[i].everywhere || at->second.size > largest_classed)
      n.where = everywhere;
  }
  std::vector<block_name> names;
  for (const auto& [address, what] : hot)
    names.push_back(what);
  return write_names(path, std::move(names));
}

} // namespace troupe::zygote
