// How a warden begins: its arguments, and what a process of its kind must be.
#include "runtime/local/warden/warden.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace troupe::warden {

namespace {

bool parse_number(std::string_view text, std::uint32_t& out) {
  auto [end, code]
    = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc{} && end == text.data() + text.size();
}

} // namespace

std::vector<std::string> to_arguments(const warden_settings& settings) {
  std::string without;
  for (const auto& layer : settings.without)
    without += (without.empty() ? "" : ",") + layer;
  return {"troupe-warden",
          command,
          std::to_string(settings.socket),
          settings.state_dir,
          settings.directory,
          std::to_string(settings.first_uid),
          std::to_string(settings.uid_count),
          without};
}

bool parse_arguments(int argc, char** argv, warden_settings& out) {
  if (argc != 8 || std::string_view{argv[1]} != command)
    return false;
  std::uint32_t socket = 0;
  if (!parse_number(argv[2], socket) || !parse_number(argv[5], out.first_uid)
      || !parse_number(argv[6], out.uid_count))
    return false;
  out.socket = static_cast<int>(socket);
  out.state_dir = argv[3];
  out.directory = argv[4];
  std::string_view rest{argv[7]};
  while (!rest.empty()) {
    auto name = rest.substr(0, rest.find(','));
    out.without.emplace_back(name);
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return true;
}

bool is_warden(std::string_view command_line) {
  auto name = command_line.find('\0');
  if (name == command_line.npos)
    return false;
  auto first = command_line.substr(name + 1);
  return first.substr(0, first.find('\0')) == command;
}

int warden_main(int argc, char** argv) {
  warden_settings settings;
  if (!parse_arguments(argc, argv, settings))
    return 2;
  ::prctl(PR_SET_NAME, "troupe-warden", 0, 0, 0);
  ::fcntl(settings.socket, F_SETFD, FD_CLOEXEC);
  // Nothing of the engine's, should it have forgotten to mark a descriptor.
  ::syscall(SYS_close_range, static_cast<unsigned>(settings.socket) + 1, ~0U,
            0);
  // A session of its own: the terminal's Ctrl-C is for the engine, which ends
  // its runs in order.
  ::setsid();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL); // the parent may have ignored it
  ::umask(022);
  if (::chdir("/") != 0)
    return 1;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  return warden{std::move(settings)}.run();
}

} // namespace troupe::warden
