#include "runtime/local/sandbox/inside/hand.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/isolation/descriptors.hpp"
#include "runtime/local/isolation/signals.hpp"
#include "runtime/local/sandbox/inside/file_search.hpp"
#include "runtime/local/sandbox/inside/file_watch.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"
#include "runtime/local/sandbox/inside/hand_filter.hpp"
#include "runtime/local/sandbox/inside/hand_protocol.hpp"
#include "runtime/local/sandbox/inside/tar_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace troupe::inside {

namespace {

constexpr int idle_ms = 30'000;

/// With their names, well below what one packet may hold.
constexpr std::size_t max_page_bytes = 32u << 10;
constexpr std::size_t longest_about = 4'096;

class hand {
public:
  explicit hand(int socket) : socket_{socket} {}

  void run() {
    for (;;) {
      pollfd wait{socket_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, idle_ms);
      if (ready == 0)
        return;
      packet asked;
      const auto got
        = receive_packet(socket_, max_hand_packet, max_hand_descriptors, asked);
      hand_message m;
      if (got == packet_status::closed)
        return;
      if (got == packet_status::done && decode(asked.bytes, m))
        serve(m, asked.descriptors);
    }
  }

private:
  void serve(const hand_message& m, const std::vector<unique_fd>& given) {
    const char* path = m.path.c_str();
    switch (m.what) {
    case hand_word::open:
      return open(path);
    case hand_word::stat:
      return tell_stat(path);
    case hand_word::list:
      return list(path);
    case hand_word::write:
      return tell(given.size() == 1 ? write_file(path, given.front().get())
                                    : EBADF);
    case hand_word::make_folder:
      return tell(make_folder(path));
    case hand_word::move:
      return tell(move_file(path, m.to.c_str()));
    case hand_word::remove:
      return tell(remove_all(path));
    case hand_word::pack:
    case hand_word::unpack:
      return given.size() == 1 ? archive(m, given.front().get()) : tell(EBADF);
    case hand_word::search:
      return search(m);
    case hand_word::watch:
      return watch(m);
    case hand_word::entries:
    case hand_word::done:
    case hand_word::matches:
    case hand_word::events:
      break; // ours to say
    }
  }

  void open(const char* path) {
    unique_fd file{open_inside(path, open_to_read)};
    struct stat about {};
    if (!file || ::fstat(file.get(), &about) != 0)
      return tell(errno);
    hand_message m;
    m.kind = kind_of(about.st_mode);
    m.bytes = static_cast<std::uint64_t>(about.st_size);
    const int number = file.get();
    if (m.kind == file_kind::file)
      return say(m, {&number, 1});
    m.error = m.kind == file_kind::folder ? EISDIR : ENXIO;
    say(m);
  }

  void tell_stat(const char* path) {
    unique_fd file{open_inside(path, open_to_name | O_NOFOLLOW)};
    struct stat about {};
    if (!file || ::fstat(file.get(), &about) != 0)
      return tell(errno);
    hand_message m;
    m.kind = kind_of(about.st_mode);
    m.bytes = static_cast<std::uint64_t>(about.st_size);
    m.about = target_of(file.get(), "");
    say(m);
  }

  void list(const char* path) {
    hand_message page;
    page.what = hand_word::entries;
    std::size_t bytes = 0;
    const auto send_page = [&] {
      say(page);
      page.entries.clear();
      bytes = 0;
    };
    const int error = each_entry(path, [&](hand_entry entry) {
      bytes += entry.name.size() + entry.target.size() + 24;
      page.entries.push_back(std::move(entry));
      if (bytes > max_page_bytes)
        send_page();
    });
    if (!page.entries.empty())
      send_page();
    tell(error);
  }

  void archive(const hand_message& asked, int other_end) {
    hand_message m;
    tree_count count;
    m.error = asked.what == hand_word::pack
      ? pack_tree(asked.path.c_str(), other_end, count)
      : unpack_tree(asked.path.c_str(), other_end, count, m.about);
    m.count = count.entries;
    m.bytes = count.bytes;
    m.about.resize(std::min(m.about.size(), longest_about));
    say(m);
  }

  void search(const hand_message& asked) {
    hand_message page;
    page.what = hand_word::matches;
    std::size_t bytes = 0;
    const auto send_page = [&] {
      say(page);
      page.matches.clear();
      bytes = 0;
    };
    hand_message end;
    end.error = search_tree(
      asked,
      [&](hand_match found) {
        bytes += found.path.size() + found.text.size() + 32;
        page.matches.push_back(std::move(found));
        if (bytes > max_page_bytes)
          send_page();
      },
      end.whole);
    if (!page.matches.empty())
      send_page();
    say(end);
  }

  /// Is of no other use after that.
  void watch(const hand_message& asked) {
    watch_tree(
      asked, socket_, [this](int error) { tell(error); },
      [this](std::vector<hand_event> all) { tell_events(std::move(all)); });
    ::_exit(0);
  }

  void tell_events(std::vector<hand_event> all) {
    hand_message page;
    page.what = hand_word::events;
    std::size_t bytes = 0;
    for (auto& each : all) {
      bytes += each.path.size() + each.to.size() + 16;
      page.events.push_back(std::move(each));
      if (bytes > max_page_bytes || &each == &all.back()) {
        say(page);
        page.events.clear();
        bytes = 0;
      }
    }
  }

  void tell(int error) {
    hand_message m;
    m.error = error;
    say(m);
  }

  /// The engine takes what it asked for; if not, it ends us.
  void say(const hand_message& m, std::span<const int> files = {}) {
    const auto bytes = encode(m);
    for (;;) {
      const auto sent = send_packet(socket_, bytes, files);
      if (sent == packet_status::closed)
        ::_exit(0);
      if (sent != packet_status::later)
        return;
      pollfd wait{socket_, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    }
  }

  int socket_;
};

} // namespace

void run_hand(int socket) noexcept {
  isolation::default_signals();
  ::signal(SIGPIPE, SIG_IGN); // who reads an archive may go
  int mine[] = {socket};
  if (!isolation::keep_only(mine, 1).ok() || !confine_hand().ok())
    ::_exit(1);
  hand{socket}.run();
  ::_exit(0);
}

} // namespace troupe::inside
