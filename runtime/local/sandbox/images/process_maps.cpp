#if defined(__x86_64__)

#include "runtime/local/sandbox/images/process_maps.hpp"

namespace troupe::images {

namespace {

INLINE word hex(const char*& p) {
  word n = 0;
  for (;; ++p) {
    const char c = *p;
    if (c >= '0' && c <= '9')
      n = n * 16 + static_cast<word>(c - '0');
    else if (c >= 'a' && c <= 'f')
      n = n * 16 + static_cast<word>(c - 'a' + 10);
    else
      return n;
  }
}

INLINE word decimal(const char*& p) {
  word n = 0;
  for (; *p >= '0' && *p <= '9'; ++p)
    n = n * 10 + static_cast<word>(*p - '0');
  return n;
}

INLINE void skip_spaces(const char*& p) {
  while (*p == ' ')
    ++p;
}

} // namespace

bool read_mapping(const char*& p, const char* end, mapping& out) {
  if (p >= end)
    return false;
  out.start = hex(p);
  ++p;
  out.end = hex(p);
  ++p;
  out.protection = (p[0] == 'r' ? PROT_READ : 0)
    | (p[1] == 'w' ? PROT_WRITE : 0) | (p[2] == 'x' ? PROT_EXEC : 0);
  out.shared = p[3] == 's';
  p += 5;
  out.offset = hex(p);
  ++p;
  while (*p != ' ') // the device
    ++p;
  ++p;
  out.inode = decimal(p);
  skip_spaces(p);
  out.name = p;
  while (p < end && *p != '\n')
    ++p;
  out.name_bytes = static_cast<word>(p - out.name);
  ++p;
  return true;
}

long read_maps(char* to, word most) {
  const auto path = maps_path();
  const long file
    = call(SYS_openat, static_cast<word>(AT_FDCWD), of(&path), O_RDONLY);
  if (failed(file))
    return file;
  word size = 0;
  long n = 0;
  while (
    size < most
    && (n = call(SYS_read, static_cast<word>(file), of(to) + size, most - size))
      > 0)
    size += static_cast<word>(n);
  call(SYS_close, static_cast<word>(file));
  if (failed(n))
    return n;
  return size == most ? -E2BIG : static_cast<long>(size);
}

} // namespace troupe::images

#endif
