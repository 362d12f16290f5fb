#include "runtime/local/isolation/cgroup_files.hpp"

#include "runtime/base/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace troupe::isolation {

bool write_text(const std::string& path, std::string_view text) {
  unique_fd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  return fd
    && ::write(fd.get(), text.data(), text.size())
    == static_cast<ssize_t>(text.size());
}

std::optional<std::string> read_text(const std::string& path) {
  unique_fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd)
    return std::nullopt;
  std::string text;
  char buffer[4096];
  constexpr std::size_t enough = 4u << 20;
  while (text.size() < enough) {
    auto n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0)
      return std::nullopt;
    if (n == 0)
      break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  auto text = read_text(path);
  std::uint64_t number = 0;
  if (!text
      || std::from_chars(text->data(), text->data() + text->size(), number).ec
        != std::errc{})
    return std::nullopt;
  return number;
}

std::uint64_t read_keyed(const std::string& path, std::string_view key) {
  auto text = read_text(path);
  if (!text)
    return 0;
  std::string_view rest{*text};
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.size() <= key.size() + 1 || !line.starts_with(key)
        || line[key.size()] != ' ')
      continue;
    std::uint64_t number = 0;
    auto value = line.substr(key.size() + 1);
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
  }
  return 0;
}

} // namespace troupe::isolation
