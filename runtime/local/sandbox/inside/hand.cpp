#include "runtime/local/sandbox/inside/hand.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/isolation/descriptors.hpp"
#include "runtime/local/isolation/signals.hpp"
#include "runtime/local/sandbox/inside/file_work.hpp"
#include "runtime/local/sandbox/inside/hand_filter.hpp"
#include "runtime/local/sandbox/inside/hand_protocol.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace troupe::inside {

namespace {

constexpr int idle_ms = 30'000;

/// With their names, well below what one packet may hold.
constexpr std::size_t max_page_bytes = 32u << 10;

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
    case hand_word::entries:
    case hand_word::done:
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
    unique_fd file{open_inside(path, open_to_name)};
    struct stat about {};
    if (!file || ::fstat(file.get(), &about) != 0)
      return tell(errno);
    hand_message m;
    m.kind = kind_of(about.st_mode);
    m.bytes = static_cast<std::uint64_t>(about.st_size);
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
      bytes += entry.name.size() + 16;
      page.entries.push_back(std::move(entry));
      if (bytes > max_page_bytes)
        send_page();
    });
    if (!page.entries.empty())
      send_page();
    tell(error);
  }

  void tell(int error) {
    hand_message m;
    m.error = error;
    say(m);
  }

  /// The engine takes what it asked for; if not, it ends us.
  void say(const hand_message& m, std::span<const int> files = {}) {
    const auto bytes = encode(m);
    while (send_packet(socket_, bytes, files) == packet_status::later) {
      pollfd wait{socket_, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    }
  }

  int socket_;
};

} // namespace

void run_hand(int socket) noexcept {
  isolation::default_signals();
  int mine[] = {socket};
  if (!isolation::keep_only(mine, 1).ok() || !confine_hand().ok())
    ::_exit(1);
  hand{socket}.run();
  ::_exit(0);
}

} // namespace troupe::inside
