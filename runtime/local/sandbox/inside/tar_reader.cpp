#include "runtime/local/sandbox/inside/tar_reader.hpp"

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"
#include "runtime/local/sandbox/inside/tar_header.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <vector>

namespace troupe::inside {

namespace {

constexpr std::uint64_t most_entries = 1'000'000;
constexpr std::uint64_t longest_attributes = 64u << 10;
constexpr std::uint64_t largest_file = 1ull << 40;
constexpr std::size_t copy_bytes = 64u << 10;

/// Where an entry goes: the folder's path below the target, and its name.
struct entry_place {
  std::vector<std::string> folders;
  std::string name; // "": the target itself
};

/// 0, or why there is no such place.
int place_of(std::string_view path, entry_place& out) {
  std::vector<std::string> parts;
  if (path.size() >= PATH_MAX)
    return E2BIG;
  while (!path.empty()) {
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part.empty() || part == ".")
      continue;
    if (part == ".." || part.find('\0') != part.npos)
      return EXDEV;
    if (part.size() > NAME_MAX)
      return E2BIG;
    parts.emplace_back(part);
  }
  if (!parts.empty()) {
    out.name = std::move(parts.back());
    parts.pop_back();
  }
  out.folders = std::move(parts);
  return 0;
}

/// Over no link that leads out of `top`.
unique_fd open_below(int top, const char* path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return unique_fd{
    static_cast<int>(::syscall(SYS_openat2, top, path, &how, sizeof how))};
}

class tar_reader {
public:
  tar_reader(int top, int from, tree_count& count)
      : top_{top}, from_{from}, count_{count} {}

  int run(std::string& about) {
    for (;;) {
      tar::header h;
      bool over = false;
      if (const int no = next_header(h, over); no != 0 || over)
        return no != 0 ? no : drain();
      about = h.path;
      if (++count_.entries > most_entries)
        return E2BIG;
      if (const int no = make(h); no != 0)
        return no;
    }
  }

private:
  // -- the archive -----------------------------------------------------------

  /// All of `size` bytes, or an error.
  int read(char* into, std::size_t size) {
    while (size > 0) {
      const auto n = ::read(from_, into, size);
      if (n == 0)
        return EBADMSG;
      if (n < 0 && errno != EINTR)
        return errno;
      into += std::max<ssize_t>(n, 0);
      size -= static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
    return 0;
  }

  int read_text(std::uint64_t size, std::string& into) {
    if (size > longest_attributes)
      return E2BIG;
    into.resize(static_cast<std::size_t>(size) + tar::padding(size));
    const int no = read(into.data(), into.size());
    into.resize(static_cast<std::size_t>(size));
    return no;
  }

  /// That of the next entry, with what was said of it before.
  int next_header(tar::header& out, bool& over) {
    std::optional<std::string> path;
    std::optional<std::string> target;
    std::string said;
    for (;;) {
      std::string one(tar::block, '\0');
      if (const int no = read(one.data(), one.size()); no != 0)
        return no;
      const auto got = tar::decode(one, out);
      over = got == tar::decoded::end;
      if (over)
        return 0;
      if (got == tar::decoded::bad || out.size > largest_file)
        return EBADMSG;
      std::string text;
      const bool is_note = out.type == tar::attributes
        || out.type == tar::all_attributes || out.type == tar::long_path
        || out.type == tar::long_target;
      if (!is_note)
        break;
      if (const int no = read_text(out.size, text); no != 0)
        return no;
      if (out.type == tar::attributes)
        said = std::move(text);
      else if (out.type == tar::long_path)
        path = text.substr(0, text.find('\0'));
      else if (out.type == tar::long_target)
        target = text.substr(0, text.find('\0'));
    }
    if (path)
      out.path = std::move(*path);
    if (target)
      out.target = std::move(*target);
    return tar::apply_attributes(said, out) && out.size <= largest_file
      ? 0
      : EBADMSG;
  }

  /// What fills the last record.
  int drain() {
    char some[4'096];
    for (std::size_t left = 1u << 20; left > 0;) {
      const auto n = ::read(from_, some, std::min(left, sizeof some));
      if (n == 0)
        return 0;
      if (n < 0 && errno != EINTR)
        return errno;
      left -= static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
    return EBADMSG;
  }

  // -- and what is made of it ------------------------------------------------

  unique_fd open_folder(const std::vector<std::string>& folders) {
    std::string path{"."};
    for (const auto& each : folders)
      path += "/" + each;
    auto whole = open_below(top_, path.c_str());
    if (whole || errno != ENOENT)
      return whole;
    auto at = open_below(top_, ".");
    path = ".";
    for (const auto& each : folders) {
      if (!at)
        break;
      if (::mkdirat(at.get(), each.c_str(), 0755) != 0 && errno != EEXIST)
        return {};
      path += "/" + each;
      at = open_below(top_, path.c_str());
    }
    return at;
  }

  int make(const tar::header& h) {
    entry_place place;
    if (const int no = place_of(h.path, place); no != 0)
      return no;
    if (place.name.empty())
      return skip(h.type == tar::folder ? 0 : h.size);
    const auto folder = open_folder(place.folders);
    if (!folder)
      return errno;
    const char* name = place.name.c_str();
    switch (h.type) {
    case tar::folder:
      return make_one(::mkdirat(folder.get(), name, h.mode | 0700), true);
    case tar::file:
    case '7': // laid out in one piece, long ago
      return make_file(folder.get(), name, h);
    case tar::link:
      if (const int no = clear(folder.get(), name); no != 0)
        return no;
      return make_one(::symlinkat(h.target.c_str(), folder.get(), name), false);
    case tar::hard_link:
      return make_hard_link(folder.get(), name, h);
    default:
      --count_.entries;
      return skip(h.size);
    }
  }

  static int make_one(int done, bool may_be_there) {
    return done == 0 || (may_be_there && errno == EEXIST) ? 0 : errno;
  }

  static int clear(int folder, const char* name) {
    return ::unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
  }

  int make_hard_link(int folder, const char* name, const tar::header& h) {
    entry_place there;
    if (const int no = place_of(h.target, there); no != 0)
      return no;
    const auto from = open_folder(there.folders);
    if (!from)
      return errno;
    if (const int no = clear(folder, name); no != 0)
      return no;
    return make_one(::linkat(from.get(), there.name.c_str(), folder, name, 0),
                    false);
  }

  int make_file(int folder, const char* name, const tar::header& h) {
    if (const int no = clear(folder, name); no != 0)
      return no;
    const unique_fd file{
      ::openat(folder, name,
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file)
      return errno;
    if (const int no = copy(h.size, file.get()); no != 0)
      return no;
    const timespec times[2] = {{h.modified, 0}, {h.modified, 0}};
    ::futimens(file.get(), times); // nothing hangs on it
    count_.bytes += h.size;
    return ::fchmod(file.get(), h.mode) == 0 ? 0 : errno;
  }

  int skip(std::uint64_t size) { return copy(size, -1); }

  /// With what pads it; -1: to nowhere.
  int copy(std::uint64_t size, int to) {
    char some[copy_bytes];
    while (size > 0) {
      const auto n
        = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof some));
      const auto rest = size == n ? tar::padding(size) : 0;
      if (const int no = read(some, n); no != 0)
        return no;
      for (std::size_t done = 0; to >= 0 && done < n;) {
        const auto wrote = ::write(to, some + done, n - done);
        if (wrote < 0)
          return errno;
        done += static_cast<std::size_t>(wrote);
      }
      size -= n;
      if (rest > 0)
        return read(some, rest);
    }
    return 0;
  }

  const int top_;
  const int from_;
  tree_count& count_;
};

} // namespace

int unpack_tree(const char* path, int from, tree_count& count,
                std::string& about) {
  about = path;
  if (const int no = make_folder(path); no != 0)
    return no;
  const unique_fd top{
    open_inside(path, open_to_name | static_cast<std::uint64_t>(O_DIRECTORY))};
  if (!top)
    return errno;
  return tar_reader{top.get(), from, count}.run(about);
}

} // namespace troupe::inside
