// A program that becomes the process that was saved in its file.
#if defined(__x86_64__)

#include "runtime/local/sandbox/images/process_maps.hpp"

namespace troupe::images {

namespace {

constexpr word own_stack_at = program_at + (1u << 20);
constexpr word own_stack_bytes = 64u << 10;
constexpr word own_table_at = program_at + (4u << 20);
constexpr word own_maps_at = program_at + (8u << 20);
constexpr word moved_at = program_at + (64u << 20);

INLINE void leave(int how) {
  for (;;)
    call(SYS_exit_group, static_cast<word>(how));
}

INLINE bool map_own(word where, word size) {
  return call(SYS_mmap, where, size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~0ull, 0)
    == static_cast<long>(where);
}

/// What the kernel gave us for clocks goes aside, all else goes.
IN_IMAGE void empty_memory(const image_header& h, const region* regions) {
  const region* special[max_special];
  word wanted = 0;
  for (word i = 0; i < h.regions; ++i)
    if (regions[i].kind == region_kind::special) {
      if (wanted == max_special)
        leave(kernel_differs);
      special[wanted++] = &regions[i];
    }
  const long size = read_maps(at<char>(own_maps_at), maps_bytes);
  if (failed(size))
    leave(memory_refused);
  const char* p = at<const char>(own_maps_at);
  const char* end = p + size;
  word found = 0;
  word first = 0;
  for (mapping m; read_mapping(p, end, m);) {
    const auto kind = special_of(m);
    if (kind == special::fixed
        || (m.start >= program_at && m.end <= program_at + program_bytes))
      continue;
    const word bytes = m.end - m.start;
    if (kind == special::no) {
      call(SYS_munmap, m.start, bytes);
      continue;
    }
    if (found == 0)
      first = m.start;
    // Their distance from each other is known to their code.
    if (found >= wanted || special[found]->size != bytes
        || special[found]->start - special[0]->start != m.start - first
        || failed(call(SYS_mremap, m.start, bytes, bytes,
                       MREMAP_MAYMOVE | MREMAP_FIXED,
                       moved_at + (m.start - first))))
      leave(kernel_differs);
    ++found;
  }
  if (found != wanted)
    leave(kernel_differs);
  for (word i = 0; i < wanted; ++i)
    if (failed(call(SYS_mremap,
                    moved_at + (special[i]->start - special[0]->start),
                    special[i]->size, special[i]->size,
                    MREMAP_MAYMOVE | MREMAP_FIXED, special[i]->start)))
      leave(kernel_differs);
}

INLINE long open_region(const region& r) {
  const char* name = at<const char>(own_table_at + r.name);
  const long file
    = call(SYS_openat, static_cast<word>(AT_FDCWD), of(name), O_RDONLY);
  word about[18];
  if (failed(file)
      || failed(call(SYS_fstat, static_cast<word>(file), of(about)))
      || about[6] != r.file_bytes)
    leave(file_differs);
  return file;
}

IN_IMAGE void map_regions(const image_header& h, const region* regions) {
  for (word i = 0; i < h.regions; ++i) {
    const region& r = regions[i];
    if (r.kind == region_kind::special)
      continue;
    word flags
      = MAP_FIXED | (r.kind == region_kind::shared ? MAP_SHARED : MAP_PRIVATE);
    long file = -1;
    if (r.kind == region_kind::empty)
      flags |= MAP_ANONYMOUS | MAP_NORESERVE;
    else if (r.kind == region_kind::data)
      file = 0;
    else
      file = open_region(r);
    if (call(SYS_mmap, r.start, r.size, r.protection & ~is_wiped, flags,
             static_cast<word>(file), r.offset)
        != static_cast<long>(r.start))
      leave(memory_refused);
    if ((r.protection & is_wiped) != 0
        && failed(call(SYS_madvise, r.start, r.size, MADV_WIPEONFORK)))
      leave(memory_refused);
    if (file > 0)
      call(SYS_close, static_cast<word>(file));
  }
}

INLINE void restore_thread(const image_header& h) {
  constexpr int kill = 9;
  constexpr int stop = 19;
  for (word n = 1; n <= signal_count; ++n)
    if (n != kill && n != stop)
      call(SYS_rt_sigaction, n, of(&h.actions[n - 1]), 0, 8);
  call(SYS_sigaltstack, of(h.signal_stack), 0);
  call(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, h.thread_pointer);
  const long id = call(SYS_set_tid_address, h.thread_id_at);
  if (h.thread_id_at != 0)
    *at<int>(h.thread_id_at) = static_cast<int>(id);
  call(SYS_set_robust_list, h.robust_list, h.robust_list_bytes);
  // Where a heap grows is the kernel's to say, and it grows from here now. libc
  // takes that well where it is further up, and else maps its memory.
  const auto heap_end = static_cast<word>(call(SYS_brk, 0));
  if (auto* known = at<word>(h.heap_end_at); *known < heap_end)
    *known = heap_end;
  if (h.restartable_at != 0)
    call(SYS_rseq, h.restartable_at, 32, 0, 0x53053053);
  call(SYS_prctl, PR_SET_NAME, of(h.name));
  call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, of(&h.signal_mask), 0, 8);
}

IN_IMAGE void restore_all() {
  if (call(SYS_mmap, own_table_at, table_bytes, PROT_READ,
           MAP_PRIVATE | MAP_FIXED, 0, table_at)
        != static_cast<long>(own_table_at)
      || !map_own(own_maps_at, maps_bytes))
    leave(image_unreadable);
  const auto& h = *at<const image_header>(own_table_at);
  if (h.magic != image_magic || h.regions > max_regions)
    leave(image_unreadable);
  const auto* regions = at<const region>(own_table_at + sizeof(image_header));
  empty_memory(h, regions);
  map_regions(h, regions);
  restore_thread(h);
  asm volatile("jmp *%0" ::"r"(h.resume), "D"(h.order) : "memory");
  __builtin_unreachable();
}

} // namespace

/// Where the program begins when it is executed: on a stack of its own, since
/// the one that the kernel gave it may lie where another has to be.
extern "C" __attribute__((naked, section("process_image"), visibility("hidden"),
                          used)) void
image_start() {
  asm volatile("movl %0, %%eax\n"
               "movabsq %1, %%rdi\n"
               "movq %2, %%rsi\n"
               "movl $3, %%edx\n"
               "movl $0x32, %%r10d\n"
               "movq $-1, %%r8\n"
               "xorl %%r9d, %%r9d\n"
               "syscall\n"
               "movabsq %1, %%rsp\n"
               "addq %2, %%rsp\n"
               "xorl %%ebp, %%ebp\n"
               "call %P3\n"
               "hlt\n" ::"i"(SYS_mmap),
               "i"(own_stack_at), "i"(own_stack_bytes), "i"(&restore_all));
}

} // namespace troupe::images

#endif
