#include "runtime/local/sandbox/inside/file_search.hpp"

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"
#include "runtime/local/sandbox/inside/tree_walk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace troupe::inside {

namespace {

constexpr std::chrono::seconds longest{10};
constexpr std::size_t largest_read = 16u << 20;
constexpr std::size_t longest_line = 256; // of what is told
constexpr std::size_t longest_path = 4'096;

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return text;
}

class search {
public:
  search(const hand_message& order,
         const std::function<void(hand_match)>& found)
      : order_{order}, text_{order.ignore_case ? lower(order.text)
                                               : order.text},
        found_{found} {}

  walk_step look_at(const walked& w) {
    if (left_ == 0 || std::chrono::steady_clock::now() >= end_) {
      whole = false;
      return walk_step::stop;
    }
    if (!order_.name.empty() && !matches_name(order_.name, w.name))
      return walk_step::into;
    if (text_.empty())
      tell({w.path,
            kind_of(w.about.st_mode),
            S_ISREG(w.about.st_mode)
              ? static_cast<std::uint64_t>(w.about.st_size)
              : 0,
            0,
            {}});
    else if (S_ISREG(w.about.st_mode))
      look_into(w);
    return walk_step::into;
  }

  bool whole = true;

private:
  void tell(hand_match m) {
    if (left_ == 0 || m.path.size() > longest_path) {
      whole = false;
      return;
    }
    --left_;
    found_(std::move(m));
  }

  /// Nothing for what is no text, or too much of it.
  std::string read(const walked& w) {
    const unique_fd file{
      ::openat(w.folder, w.name,
               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    struct stat about {};
    if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
      return {};
    if (static_cast<std::uint64_t>(about.st_size) > largest_read) {
      whole = false;
      return {};
    }
    std::string all(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t size = 0;
    while (size < all.size()) {
      const auto n = ::read(file.get(), all.data() + size, all.size() - size);
      if (n <= 0)
        break;
      size += static_cast<std::size_t>(n);
    }
    all.resize(size);
    return all.find('\0') == all.npos ? all : std::string{};
  }

  void look_into(const walked& w) {
    const auto all = read(w);
    const auto seen = order_.ignore_case ? lower(all) : std::string{};
    const auto& where = order_.ignore_case ? seen : all;
    std::uint64_t line = 1;
    std::size_t counted = 0; // lines up to here
    for (auto at = where.find(text_); at != where.npos && whole;) {
      line += static_cast<std::uint64_t>(
        std::count(where.begin() + static_cast<std::ptrdiff_t>(counted),
                   where.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      counted = at;
      const auto before = at == 0 ? where.npos : where.rfind('\n', at - 1);
      const auto begin = before == where.npos ? 0 : before + 1;
      const auto end = std::min(where.find('\n', at), where.size());
      tell({w.path, file_kind::file, all.size(), line,
            all.substr(begin, std::min(end - begin, longest_line))});
      at = end < where.size() ? where.find(text_, end) : where.npos;
    }
  }

  const hand_message& order_;
  const std::string text_;
  const std::function<void(hand_match)>& found_;
  std::uint32_t left_ = order_.most;
  const std::chrono::steady_clock::time_point end_
    = std::chrono::steady_clock::now() + longest;
};

} // namespace

bool matches_name(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = pattern.npos; // the last one, and what it began to stand
  std::size_t from = 0;            // for
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size()
               && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

int search_tree(const hand_message& order,
                const std::function<void(hand_match)>& found, bool& whole) {
  const unique_fd top{
    open_inside(order.path.c_str(),
                open_to_read | static_cast<std::uint64_t>(O_DIRECTORY))};
  if (!top)
    return errno;
  search work{order, found};
  const int no
    = walk_tree(top.get(), [&](const walked& w) { return work.look_at(w); });
  whole = work.whole;
  return no;
}

} // namespace troupe::inside
