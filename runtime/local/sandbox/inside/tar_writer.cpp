#include "runtime/local/sandbox/inside/tar_writer.hpp"

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"
#include "runtime/local/sandbox/inside/tar_header.hpp"
#include "runtime/local/sandbox/inside/tree_walk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>

namespace troupe::inside {

namespace {

constexpr std::size_t buffer_bytes = 64u << 10;

class tar_writer {
public:
  tar_writer(int to, tree_count& count) : to_{to}, count_{count} {}

  /// 0 or errno, as everything here.
  int add(int folder, const char* name, const std::string& path,
          const struct stat& about) {
    auto h = header_of(path, about);
    if (S_ISDIR(about.st_mode)) {
      h.type = tar::folder;
      h.path += '/';
    } else if (S_ISLNK(about.st_mode)) {
      char target[PATH_MAX];
      const auto size = ::readlinkat(folder, name, target, sizeof target);
      if (size < 0)
        return errno == ENOENT || errno == EINVAL ? 0 : errno;
      h.type = tar::link;
      h.target.assign(target, static_cast<std::size_t>(size));
    } else if (S_ISREG(about.st_mode)) {
      unique_fd file{
        ::openat(folder, name,
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
      // Gone, or not for us to read, or a link by now.
      if (!file)
        return errno == ENOENT || errno == EACCES || errno == ELOOP ? 0 : errno;
      return add_file(path, file.get());
    } else {
      return 0;
    }
    ++count_.entries;
    return write(tar::encode(h));
  }

  int add_file(const std::string& path, int file) {
    struct stat about {};
    if (::fstat(file, &about) != 0)
      return errno;
    if (!S_ISREG(about.st_mode))
      return 0; // another one by now
    auto h = header_of(path, about);
    h.size = static_cast<std::uint64_t>(about.st_size);
    if (const int no = write(tar::encode(h)); no != 0)
      return no;
    ++count_.entries;
    count_.bytes += h.size;
    char some[buffer_bytes];
    for (auto left = h.size; left > 0;) {
      const auto n
        = ::read(file, some, std::min<std::uint64_t>(left, sizeof some));
      if (n <= 0)
        return n < 0 ? errno : ESTALE;
      if (const int no = write({some, static_cast<std::size_t>(n)}); no != 0)
        return no;
      left -= static_cast<std::uint64_t>(n);
    }
    return write(std::string(tar::padding(h.size), '\0'));
  }

  int finish() {
    if (const int no = write(std::string(2 * tar::block, '\0')); no != 0)
      return no;
    return flush();
  }

private:
  static tar::header header_of(const std::string& path,
                               const struct stat& about) {
    tar::header h;
    h.path = path;
    h.mode = about.st_mode & 0777;
    h.modified = std::max<std::int64_t>(0, about.st_mtim.tv_sec);
    return h;
  }

  int write(std::string_view bytes) {
    buffer_ += bytes;
    return buffer_.size() < buffer_bytes ? 0 : flush();
  }
  int flush() {
    std::string_view left{buffer_};
    while (!left.empty()) {
      const auto n = ::write(to_, left.data(), left.size());
      if (n < 0 && errno != EINTR)
        return errno;
      left.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
    buffer_.clear();
    return 0;
  }

  const int to_;
  tree_count& count_;
  std::string buffer_;
};

} // namespace

int pack_tree(const char* path, int to, tree_count& count) {
  const unique_fd top{open_inside(path, open_to_read)};
  struct stat about {};
  if (!top || ::fstat(top.get(), &about) != 0)
    return errno;
  tar_writer archive{to, count};
  int no = 0;
  if (S_ISDIR(about.st_mode)) {
    const int walked_to = walk_tree(top.get(), [&](const walked& w) {
      no = archive.add(w.folder, w.name, w.path, w.about);
      return no == 0 ? walk_step::into : walk_step::stop;
    });
    no = no != 0 ? no : walked_to;
  } else if (S_ISREG(about.st_mode)) {
    const std::string whole{path};
    no = archive.add_file(whole.substr(whole.rfind('/') + 1), top.get());
  } else {
    no = ENXIO;
  }
  return no != 0 ? no : archive.finish();
}

} // namespace troupe::inside
