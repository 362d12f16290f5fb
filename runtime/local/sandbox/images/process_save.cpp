// A process that writes itself into a file.
#if defined(__x86_64__)

#include "runtime/local/sandbox/images/process_maps.hpp"

namespace troupe::images {

namespace {

INLINE bool is_deleted(const mapping& m) {
  constexpr word size = 10; // " (deleted)"
  return m.name_bytes > size && m.name[m.name_bytes - 1] == ')'
    && m.name[m.name_bytes - 2] == 'd' && m.name[m.name_bytes - size] == ' '
    && m.name[m.name_bytes - size + 1] == '(';
}

INLINE void copy(char* to, const char* from, word size) {
  for (word i = 0; i < size; ++i) {
    to[i] = from[i];
    asm volatile("" ::: "memory"); // not a call of memcpy
  }
}

INLINE void clear(void* to, word size) {
  for (word i = 0; i < size; ++i) {
    static_cast<char*>(to)[i] = 0;
    asm volatile("" ::: "memory");
  }
}

struct saver {
  save_order* order;
  image_header* header;
  region* regions;
  word names; // so much of them is taken
  word* window;
  long pagemap;
  word data; // where the next page goes
};

IN_IMAGE long add(saver& s, const region& r) {
  if (s.header->regions >= max_regions)
    return -E2BIG;
  s.regions[s.header->regions++] = r;
  return 0;
}

IN_IMAGE long write_pages(saver& s, const mapping& m, word from, word to) {
  if ((m.protection & PROT_READ) == 0) // we are of no more use afterwards
    if (const long no = call(SYS_mprotect, from, to - from,
                             static_cast<word>(m.protection) | PROT_READ);
        failed(no))
      return no;
  region r{from, to - from, s.data, 0, 0, region_kind::data, m.protection};
  if (const long no = add(s, r); no != 0)
    return no;
  while (from < to) {
    const long n = call(SYS_pwrite64, s.order->file, from, to - from, s.data);
    if (n <= 0)
      return n == 0 ? -EIO : n;
    from += static_cast<word>(n);
    s.data += static_cast<word>(n);
  }
  return 0;
}

/// Pages that are this process's own: all others are zeros, or the file's.
INLINE bool is_own(word entry) {
  constexpr word present = 1ull << 63;
  constexpr word swapped = 1ull << 62;
  constexpr word of_file = 1ull << 61;
  return (entry & swapped) != 0
    || ((entry & present) != 0 && (entry & of_file) == 0);
}

IN_IMAGE long save_pages(saver& s, const mapping& m, word from, word to) {
  constexpr word longest_gap = 8 * page_bytes;
  word first = 0; // of what is to be written; 0: nothing yet
  word last = 0;
  while (from < to) {
    word count = (to - from) / page_bytes;
    if (count > window_pages)
      count = window_pages;
    const long n = call(SYS_pread64, static_cast<word>(s.pagemap), of(s.window),
                        count * sizeof(word), from / page_bytes * sizeof(word));
    if (n <= 0)
      return n == 0 ? -EIO : n;
    count = static_cast<word>(n) / sizeof(word);
    for (word i = 0; i < count; ++i) {
      if (!is_own(s.window[i]))
        continue;
      const word page = from + i * page_bytes;
      if (first != 0 && page - last > longest_gap) {
        if (const long no = write_pages(s, m, first, last); no != 0)
          return no;
        first = 0;
      }
      if (first == 0)
        first = page;
      last = page + page_bytes;
    }
    from += count * page_bytes;
  }
  return first == 0 ? 0 : write_pages(s, m, first, last);
}

/// All but what we work in, which may be a part of a mapping.
IN_IMAGE long save_own_pages(saver& s, const mapping& m) {
  const word low = s.order->scratch;
  const word high = low + s.order->scratch_bytes;
  if (high <= m.start || low >= m.end)
    return save_pages(s, m, m.start, m.end);
  if (m.start < low)
    if (const long no = save_pages(s, m, m.start, low); no != 0)
      return no;
  return high < m.end ? save_pages(s, m, high, m.end) : 0;
}

IN_IMAGE long save_file(saver& s, const mapping& m) {
  const word place = names_at + s.names;
  if (place + m.name_bytes + 1 > table_bytes)
    return -E2BIG;
  char* name = at<char>(of(s.header) + place);
  copy(name, m.name, m.name_bytes);
  name[m.name_bytes] = '\0';
  s.names += m.name_bytes + 1;
  word about[18]; // struct stat
  if (const long no
      = call(SYS_newfstatat, static_cast<word>(AT_FDCWD), of(name), of(about));
      failed(no))
    return no;
  region r{m.start,     m.end - m.start,
           m.offset,    place,
           about[6],    m.shared ? region_kind::shared : region_kind::file,
           m.protection};
  if (about[1] != m.inode) // another file has its name now
    return -ESTALE;
  return add(s, r);
}

/// Numbers that must not be drawn twice lie in such memory.
IN_IMAGE bool wipe(const saver& s, const mapping& m) {
  const word* pairs = at<const word>(s.order->wiped);
  for (word i = 0; i < s.order->wiped_count; ++i)
    if (pairs[2 * i] == m.start && pairs[2 * i + 1] == m.end)
      return !failed(
        call(SYS_madvise, m.start, m.end - m.start, MADV_DONTNEED));
  return false;
}

IN_IMAGE long save_mapping(saver& s, const mapping& m) {
  const auto kind = special_of(m);
  if (kind == special::fixed)
    return 0;
  region r{m.start, m.end - m.start,      0,           0,
           0,       region_kind::special, m.protection};
  if (kind == special::moved)
    return add(s, r);
  if (m.start < program_at + program_bytes && m.end > program_at)
    return -EEXIST;
  const bool has_file = m.inode != 0 && m.name_bytes > 0 && m.name[0] == '/';
  if (m.shared && ((m.protection & PROT_WRITE) != 0 || is_deleted(m)))
    return -EBUSY; // others may write there
  if (has_file && !is_deleted(m)) {
    if (const long no = save_file(s, m); no != -ESTALE)
      return no != 0 || m.shared ? no : save_own_pages(s, m);
  } else if (m.shared) {
    return -EBUSY;
  }
  r.kind = region_kind::empty;
  if (wipe(s, m)) {
    r.protection |= is_wiped;
    return add(s, r);
  }
  constexpr word stack_bytes = 8u << 20;
  if (m.name_bytes == 7 && m.name[1] == 's' && m.name[2] == 't'
      && r.size < stack_bytes) { // "[stack]": it may grow
    r.start = m.end - stack_bytes;
    r.size = stack_bytes;
  }
  if (const long no = add(s, r); no != 0)
    return no;
  // Of a file that has no name any more each page is ours.
  return has_file && (m.protection & PROT_READ) != 0
    ? write_pages(s, m, m.start, m.end)
    : save_own_pages(s, m);
}

INLINE void save_thread(saver& s) {
  image_header& h = *s.header;
  call(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, of(&h.thread_pointer));
  call(SYS_prctl, PR_GET_TID_ADDRESS, of(&h.thread_id_at));
  call(SYS_get_robust_list, 0, of(&h.robust_list), of(&h.robust_list_bytes));
  call(SYS_rt_sigprocmask, 0, 0, of(&h.signal_mask), 8);
  call(SYS_sigaltstack, 0, of(h.signal_stack));
  call(SYS_prctl, PR_GET_NAME, of(h.name));
  for (word n = 1; n <= signal_count; ++n)
    call(SYS_rt_sigaction, n, 0, of(&h.actions[n - 1]), 8);
  h.heap_end_at = s.order->heap_end_at;
  if (s.order->restartable_from != 0)
    h.restartable_at
      = h.thread_pointer + *at<const word>(s.order->restartable_from);
}

IN_IMAGE long save_all(save_order* order, word resume) {
  saver s{};
  s.order = order;
  s.header = at<image_header>(order->scratch);
  s.regions = at<region>(order->scratch + sizeof(image_header));
  char* maps = at<char>(order->scratch + table_bytes);
  s.window = at<word>(order->scratch + table_bytes + maps_bytes);
  s.data = data_at;
  clear(s.header, sizeof(image_header));
  const auto path = pagemap_path();
  s.pagemap
    = call(SYS_openat, static_cast<word>(AT_FDCWD), of(&path), O_RDONLY);
  if (failed(s.pagemap))
    return s.pagemap;
  const long size = read_maps(maps, maps_bytes);
  if (failed(size))
    return size;
  save_thread(s);
  const char* p = maps;
  const char* end = maps + size;
  for (mapping m; read_mapping(p, end, m);)
    if (const long no = save_mapping(s, m); no != 0) {
      order->culprit = m.start;
      return no;
    }
  image_header& h = *s.header;
  h.magic = image_magic;
  h.bytes = s.data;
  h.resume = resume;
  h.order = of(order);
  order->saved_bytes = s.data;
  for (word done = 0; done < table_bytes;) {
    const long n = call(SYS_pwrite64, order->file, order->scratch + done,
                        table_bytes - done, table_at + done);
    if (n <= 0)
      return n == 0 ? -EIO : n;
    done += static_cast<word>(n);
  }
  return 0;
}

} // namespace

/// `long image_save(save_order*)`: 0 when it is saved, 1 in the process that is
/// restored, an errno below 0.
extern "C" __attribute__((naked, section("process_image"), visibility("hidden"),
                          used)) void
image_save() {
  asm volatile("movq %%rbx, %c0(%%rdi)\n"
               "movq %%rbp, %c0+8(%%rdi)\n"
               "movq %%r12, %c0+16(%%rdi)\n"
               "movq %%r13, %c0+24(%%rdi)\n"
               "movq %%r14, %c0+32(%%rdi)\n"
               "movq %%r15, %c0+40(%%rdi)\n"
               "movq %%rsp, %c0+48(%%rdi)\n"
               "stmxcsr %c0+56(%%rdi)\n"
               "fnstcw %c0+60(%%rdi)\n"
               "leaq image_resume(%%rip), %%rsi\n"
               "subq $8, %%rsp\n"
               "call %P1\n"
               "addq $8, %%rsp\n"
               "ret\n" ::"i"(offsetof(save_order, at)),
               "i"(&save_all));
}

/// Where a restored process goes on: back from its call of `image_save`.
extern "C" __attribute__((naked, section("process_image"), visibility("hidden"),
                          used)) void
image_resume() {
  asm volatile("movq %%rdi, %%rbx\n"
               "movq %c0+48(%%rbx), %%rsp\n" // its own stack
               "movabsq %2, %%rdi\n"
               "movq %3, %%rsi\n"
               "movl %1, %%eax\n"
               "syscall\n" // the program goes
               "movq %%rbx, %%rdi\n"
               "ldmxcsr %c0+56(%%rdi)\n"
               "fldcw %c0+60(%%rdi)\n"
               "movq %c0+8(%%rdi), %%rbp\n"
               "movq %c0+16(%%rdi), %%r12\n"
               "movq %c0+24(%%rdi), %%r13\n"
               "movq %c0+32(%%rdi), %%r14\n"
               "movq %c0+40(%%rdi), %%r15\n"
               "movq %c0(%%rdi), %%rbx\n"
               "movl $1, %%eax\n"
               "ret\n" ::"i"(offsetof(save_order, at)),
               "i"(SYS_munmap), "i"(program_at), "i"(program_bytes));
}

} // namespace troupe::images

#endif
