// Buys: every child needs a seed of its own. V8 takes one as a flag, in words:
// it looks for the name among seven hundred, writes to pages that every child
// then copies, and has to number all flags anew before it can tell whether a
// tool's compiled code was made for them: 0.1 ms of a run of 1.7. The number
// itself is a word in Node's memory, and the same one for as long as it lives.
#include "runtime/local/zygote/node/random_seed.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

/// What is written to of the program that `inside` belongs to.
struct search {
  uintptr_t inside;
  int32_t value;
  int32_t** found;
  int room;
  int count = 0;
};

bool holds(const dl_phdr_info& object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& part = object.dlpi_phdr[i];
    const auto begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && begin <= address
        && address < begin + part.p_memsz)
      return true;
  }
  return false;
}

void look_through(const ElfW(Phdr) & part, uintptr_t base, search& s) {
  constexpr uintptr_t word = sizeof(int32_t);
  const auto begin = (base + part.p_vaddr + word - 1) / word * word;
  const auto end = base + part.p_vaddr + part.p_memsz;
  for (auto at = begin; at + word <= end; at += word)
    if (auto* place = reinterpret_cast<int32_t*>(at); *place == s.value) {
      if (s.count < s.room)
        s.found[s.count] = place;
      ++s.count;
    }
}

/// A part of it is read-only once it is linked: nothing that changes is there.
bool is_relro(const dl_phdr_info& object, const ElfW(Phdr) & part) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& other = object.dlpi_phdr[i];
    if (other.p_type == PT_GNU_RELRO && other.p_vaddr <= part.p_vaddr
        && part.p_vaddr + part.p_memsz <= other.p_vaddr + other.p_memsz)
      return true;
  }
  return false;
}

int look(dl_phdr_info* object, size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  if (!holds(*object, s.inside))
    return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0
        && !is_relro(*object, part))
      look_through(part, object->dlpi_addr, s);
  }
  return 1;
}

} // namespace

void random_seed::is_now(int32_t value) {
  if (looked_) {
    count_ = static_cast<int>(
      std::remove_if(places_, places_ + count_,
                     [value](const int32_t* at) { return *at != value; })
      - places_);
    return;
  }
  looked_ = true;
  search s{reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "uv_loop_fork")),
           value, places_, most};
  dl_iterate_phdr(look, &s);
  count_ = s.count <= most ? s.count : 0; // no such number
}

bool random_seed::set(int32_t value) const {
  if (count_ != 1)
    return false;
  *places_[0] = value;
  return true;
}

} // namespace troupe::zygote
