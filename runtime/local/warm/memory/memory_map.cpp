#include "runtime/local/warm/memory/memory_map.hpp"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace troupe::zygote {

namespace {

void skip(std::string_view& line, size_t count) {
  line.remove_prefix(std::min(count, line.size()));
}

/// Takes a number from the line, and the character behind it.
bool take(std::string_view& line, int base, uint64_t& out) {
  const auto* first = line.data();
  const auto [last, wrong]
    = std::from_chars(first, first + line.size(), out, base);
  skip(line, static_cast<size_t>(last - first) + 1);
  return wrong == std::errc{};
}

bool take_mode(std::string_view& line, mapping& out) {
  if (line.size() < 5)
    return false;
  out.protection = (line[0] == 'r' ? PROT_READ : 0)
    | (line[1] == 'w' ? PROT_WRITE : 0) | (line[2] == 'x' ? PROT_EXEC : 0);
  out.shared = line[3] == 's';
  skip(line, 5);
  return true;
}

bool parse(std::string_view line, mapping& out) {
  uint64_t major = 0, minor = 0;
  const bool good = take(line, 16, out.begin) && take(line, 16, out.end)
    && take_mode(line, out) && take(line, 16, out.offset)
    && take(line, 16, major) && take(line, 16, minor)
    && take(line, 10, out.inode);
  out.device = major << 32 | minor;
  skip(line, line.find_first_not_of(' '));
  out.path = line;
  return good;
}

} // namespace

map_reader::map_reader(std::span<char> room)
    : room_{room}, file_{open("/proc/self/maps", O_RDONLY | O_CLOEXEC)},
      failed_{file_ < 0} {}

map_reader::~map_reader() {
  if (file_ >= 0)
    close(file_);
}

/// Behind the part of a line that is there already.
bool map_reader::read_more() {
  end_ -= at_;
  memmove(room_.data(), room_.data() + at_, end_);
  at_ = 0;
  const auto got = end_ < room_.size()
    ? read(file_, room_.data() + end_, room_.size() - end_)
    : -1;
  failed_ = got < 0;
  end_ += failed_ ? 0 : static_cast<size_t>(got);
  return got > 0;
}

bool map_reader::next(mapping& out) {
  while (!failed_) {
    const auto* first = room_.data() + at_;
    if (const auto* last
        = static_cast<const char*>(memchr(first, '\n', end_ - at_))) {
      const auto size = static_cast<size_t>(last - first);
      at_ += size + 1;
      failed_ = !parse({first, size}, out);
      return !failed_;
    }
    if (!read_more())
      break;
  }
  return false;
}

} // namespace troupe::zygote
