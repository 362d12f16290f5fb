#include "runtime/local/warden/warden_process.hpp"

#include "runtime/base/packet_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// The number of the warden's socket in the warden.
constexpr int warden_socket = 3;

/// Executes this binary again. It gets no environment: ours may hold secrets.
int spawn(const std::vector<std::string>& arguments, int socket, int& pid) {
  std::vector<char*> argv;
  for (const auto& a : arguments)
    argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
  char* environment[] = {path, nullptr};

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, socket, warden_socket);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int code = ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes,
                           argv.data(), environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return code;
}

} // namespace

result<std::shared_ptr<warden_process>>
warden_process::start(asio::any_io_executor strand,
                      warden::warden_settings settings, events listener) {
  auto trouble = [](int code) {
    return error{.code = ec::unavailable,
                 .text
                 = std::string{"start the warden: "} + std::strerror(code),
                 .fields = {},
                 .retry_after = {}};
  };
  auto [mine, its] = make_packet_pair();
  if (!mine)
    return trouble(errno);
  settings.socket = warden_socket;
  int pid = -1;
  if (int code = spawn(warden::to_arguments(settings), its.get(), pid);
      code != 0)
    return trouble(code);
  std::shared_ptr<warden_process> self{new warden_process{
    std::move(strand), std::move(mine), pid, std::move(listener)}};
  self->listen();
  return self;
}

warden_process::warden_process(asio::any_io_executor strand, unique_fd socket,
                               int pid, events listener)
    : socket_{std::move(strand), socket.release()}, pid_{pid}, events_{
                                                                 std::move(
                                                                   listener)} {}

warden_process::~warden_process() {
  if (pid_ < 0)
    return;
  boost::system::error_code ignored;
  socket_.close(ignored);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void warden_process::listen() {
  socket_.async_wait(
    asio::posix::stream_descriptor::wait_read,
    [self = shared_from_this()](boost::system::error_code code) {
      if (!code)
        self->receive();
    });
}

void warden_process::receive() {
  for (;;) {
    packet from_warden;
    switch (receive_packet(socket_.native_handle(), warden::max_packet,
                           warden::max_descriptors, from_warden)) {
    case packet_status::done: {
      warden::message m;
      if (warden::decode(from_warden.bytes, m))
        events_.message(std::move(m), std::move(from_warden.descriptors));
      if (!socket_.is_open())
        return; // the listener killed it
      break;
    }
    case packet_status::later:
      listen();
      return;
    case packet_status::closed:
    case packet_status::broken:
      bury();
      return;
    }
  }
}

void warden_process::send(const warden::message& m,
                          std::vector<unique_fd> descriptors) {
  unsent_.push_back({warden::encode(m), std::move(descriptors)});
  flush();
}

void warden_process::flush() {
  while (!unsent_.empty() && socket_.is_open() && !waiting_to_send_) {
    auto& next = unsent_.front();
    std::vector<int> numbers;
    for (const auto& fd : next.descriptors)
      numbers.push_back(fd.get());
    switch (send_packet(socket_.native_handle(), next.bytes, numbers)) {
    case packet_status::done:
    case packet_status::broken:
      unsent_.pop_front();
      break;
    case packet_status::later:
      waiting_to_send_ = true;
      socket_.async_wait(
        asio::posix::stream_descriptor::wait_write,
        [self = shared_from_this()](boost::system::error_code code) {
          self->waiting_to_send_ = false;
          if (!code)
            self->flush();
        });
      return;
    case packet_status::closed:
      return; // the reading side hears of it, too
    }
  }
}

void warden_process::kill() {
  if (pid_ >= 0)
    ::kill(pid_, SIGKILL); // its end of the socket closes: `bury`
}

bool warden_process::has_hung_up() {
  pollfd look{socket_.native_handle(), 0, 0};
  return ::poll(&look, 1, 0) == 1 && (look.revents & POLLHUP) != 0;
}

void warden_process::bury() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  unsent_.clear();
  if (pid_ < 0)
    return;
  // It is leaving, or lost its mind: make sure, then take its number back.
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  if (auto died = std::exchange(events_.died, nullptr))
    died();
}

} // namespace troupe
