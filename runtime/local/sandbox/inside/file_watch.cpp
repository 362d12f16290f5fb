#include "runtime/local/sandbox/inside/file_watch.hpp"

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"
#include "runtime/local/sandbox/inside/tree_walk.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <optional>

namespace troupe::inside {

namespace {

constexpr std::size_t most_folders = 8'192;
constexpr int move_patience_ms = 10;

/// The path leads where it led when it was opened, or elsewhere inside.
constexpr std::uint32_t watched_for = IN_CREATE | IN_DELETE | IN_MODIFY
  | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
  | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

std::string joined(const std::string& folder, std::string_view name) {
  return folder + (folder.ends_with('/') ? "" : "/") + std::string{name};
}

class folder_watch {
public:
  folder_watch(const hand_message& order) : order_{order} {}

  /// 0 or errno.
  int begin() {
    events_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!events_)
      return errno;
    // What is at the end of a link is meant, and the folder has to be there.
    const unique_fd top{
      open_inside(order_.path.c_str(),
                  open_to_read | static_cast<std::uint64_t>(O_DIRECTORY))};
    if (!top)
      return errno;
    top_ = ::inotify_add_watch(events_.get(), order_.path.c_str(),
                               watched_for & ~IN_DONT_FOLLOW);
    if (top_ < 0)
      return errno;
    folders_[top_] = order_.path;
    if (!order_.recursive)
      return 0;
    int no = 0;
    const int walked_to = walk_tree(top.get(), [&](const walked& w) {
      if (S_ISDIR(w.about.st_mode))
        no = add(joined(order_.path, w.path));
      return no == 0 ? walk_step::into : walk_step::stop;
    });
    return no != 0 ? no : walked_to;
  }

  int descriptor() const { return events_.get(); }
  bool is_over() const { return over_; }

  /// What there is by now. Both halves of a move come together, or nearly so.
  std::vector<hand_event> read() {
    out_.clear();
    read_once();
    pollfd more{events_.get(), POLLIN, 0};
    if (moved_ && ::poll(&more, 1, move_patience_ms) > 0)
      read_once();
    settle_move();
    return std::move(out_);
  }

private:
  struct move {
    std::uint32_t cookie = 0;
    std::string from;
  };

  void read_once() {
    alignas(inotify_event) char some[64u << 10];
    const auto size = ::read(events_.get(), some, sizeof some);
    for (ssize_t at = 0; at < size;) {
      inotify_event e;
      std::memcpy(&e, some + at, sizeof e);
      const char* name = some + at + sizeof e;
      at += static_cast<ssize_t>(sizeof e + e.len);
      heard(e, e.len > 0 ? name : "");
    }
  }

  int add(const std::string& path) {
    if (folders_.size() >= most_folders)
      return ENOSPC;
    const int number
      = ::inotify_add_watch(events_.get(), path.c_str(), watched_for);
    if (number >= 0)
      folders_[number] = path;
    else if (errno == ENOSPC || errno == ENOMEM)
      return errno;
    return 0; // it may be gone, or not for us to see
  }

  void tell(event_kind what, std::string path, std::string to = {}) {
    out_.push_back({what, std::move(path), std::move(to)});
  }

  void heard(const inotify_event& e, const char* name) {
    if ((e.mask & IN_Q_OVERFLOW) != 0)
      return tell(event_kind::overflow, order_.path);
    const auto folder = folders_.find(e.wd);
    if (folder == folders_.end())
      return;
    if ((e.mask & (IN_DELETE_SELF | IN_IGNORED | IN_MOVE_SELF)) != 0) {
      over_ = over_ || e.wd == top_;
      if ((e.mask & IN_IGNORED) != 0)
        folders_.erase(folder);
      return;
    }
    const auto path = joined(folder->second, name);
    const bool is_folder = (e.mask & IN_ISDIR) != 0;
    if (moved_ && ((e.mask & IN_MOVED_TO) == 0 || moved_->cookie != e.cookie))
      settle_move();
    if ((e.mask & IN_MOVED_FROM) != 0) {
      moved_ = move{e.cookie, path};
    } else if ((e.mask & IN_MOVED_TO) != 0) {
      arrived(path, is_folder);
    } else if ((e.mask & IN_CREATE) != 0) {
      tell(event_kind::created, path);
      if (is_folder)
        look_into(path);
    } else if ((e.mask & IN_DELETE) != 0) {
      tell(event_kind::removed, path);
    } else if ((e.mask & IN_MODIFY) != 0) {
      tell(event_kind::written, path);
    } else if ((e.mask & IN_ATTRIB) != 0 && *name != '\0') {
      tell(event_kind::changed, path);
    }
  }

  void arrived(const std::string& path, bool is_folder) {
    if (!moved_) {
      tell(event_kind::created, path);
      if (is_folder)
        look_into(path);
      return;
    }
    const auto from = std::exchange(moved_, std::nullopt)->from;
    tell(event_kind::moved, from, path);
    if (is_folder)
      rename_folders(from, path);
  }

  /// It went out of what is watched.
  void settle_move() {
    if (auto gone = std::exchange(moved_, std::nullopt))
      tell(event_kind::removed, gone->from);
  }

  void rename_folders(const std::string& from, const std::string& to) {
    for (auto& [number, path] : folders_)
      if (path == from || path.starts_with(from + "/"))
        path = to + path.substr(from.size());
  }

  /// A new folder may have something in it before it is watched.
  void look_into(const std::string& path) {
    if (!order_.recursive)
      return;
    if (add(path) != 0)
      return tell(event_kind::overflow, path);
    const unique_fd folder{open_inside(
      path.c_str(), open_to_read | static_cast<std::uint64_t>(O_DIRECTORY))};
    if (!folder)
      return;
    bool all = true;
    walk_tree(folder.get(), [&](const walked& w) {
      const auto full = joined(path, w.path);
      all = full.size() < PATH_MAX;
      if (all)
        tell(event_kind::created, full);
      all = all && (!S_ISDIR(w.about.st_mode) || add(full) == 0)
        && out_.size() < most_folders;
      return all ? walk_step::into : walk_step::stop;
    });
    if (!all)
      tell(event_kind::overflow, path);
  }

  const hand_message& order_;
  unique_fd events_;
  int top_ = -1;
  bool over_ = false;
  std::map<int, std::string> folders_; // by the number of their watch
  std::optional<move> moved_;          // from, but not yet to
  std::vector<hand_event> out_;
};

} // namespace

void watch_tree(const hand_message& order, int socket,
                const std::function<void(int)>& begun,
                const std::function<void(std::vector<hand_event>)>& told) {
  folder_watch watch{order};
  const int no = watch.begin();
  begun(no);
  while (no == 0 && !watch.is_over()) {
    pollfd wait[] = {{watch.descriptor(), POLLIN, 0}, {socket, POLLIN, 0}};
    if (::poll(wait, 2, -1) < 0)
      continue;
    if (wait[1].revents != 0) // nothing is asked of us but to end
      return;
    if (auto some = watch.read(); !some.empty())
      told(std::move(some));
  }
}

} // namespace troupe::inside
