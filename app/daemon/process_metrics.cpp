#include "app/daemon/process_metrics.hpp"

#include "app/daemon/build_commit.hpp"
#include "runtime/base/metrics_writer.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace troupe {

namespace {

namespace fs = std::filesystem;

// Fields of /proc/self/stat, counted from behind the program's name: proc(5)
// numbers them from 3 there.
constexpr std::size_t user_ticks = 14 - 3;
constexpr std::size_t system_ticks = 15 - 3;
constexpr std::size_t threads = 20 - 3;
constexpr std::size_t start_ticks = 22 - 3; // after the start of the machine
constexpr std::size_t virtual_bytes = 23 - 3;
constexpr std::size_t resident_pages = 24 - 3;

std::array<std::uint64_t, resident_pages + 1> own_stat() {
  std::array<std::uint64_t, resident_pages + 1> out{};
  std::ifstream file{"/proc/self/stat"};
  std::string text;
  std::getline(file, text);
  std::istringstream fields{
    text.substr(std::min(text.rfind(')') + 1, text.size()))};
  std::string word; // the state is a letter, some numbers are negative
  for (auto& each : out)
    if (fields >> word)
      each = std::strtoull(word.c_str(), nullptr, 10);
  return out;
}

/// When this machine was started, as seconds of the epoch.
std::uint64_t start_of_machine() {
  std::ifstream file{"/proc/stat"};
  std::uint64_t seconds = 0;
  for (std::string word; file >> word;)
    if (word == "btime" && file >> seconds)
      break;
  return seconds;
}

std::uint64_t open_files() {
  std::error_code code;
  std::uint64_t count = 0;
  for (fs::directory_iterator i{"/proc/self/fd", code}, end; !code && i != end;
       i.increment(code))
    ++count;
  return count;
}

} // namespace

std::string process_metrics() {
  metrics_writer out;
  out.head("troupe_build_info", "gauge", "1, with the version of this build.");
  out.line("troupe_build_info",
           metrics_writer::label("version", TROUPE_VERSION) + ","
             + metrics_writer::label("commit", build_commit()),
           1);
  const auto stat = own_stat();
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  static const auto machine = static_cast<double>(start_of_machine());
  out.counter("process_cpu_seconds_total",
              "Processor time of this process, without that of runs.",
              static_cast<double>(stat[user_ticks] + stat[system_ticks])
                / per_second);
  out.gauge("process_resident_memory_bytes",
            "Memory of this process, without that of runs.",
            stat[resident_pages]
              * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  out.gauge("process_virtual_memory_bytes", "Address space in use.",
            stat[virtual_bytes]);
  out.gauge("process_threads", "Threads of this process.", stat[threads]);
  out.gauge("process_open_fds", "Open file descriptors.", open_files());
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  out.gauge("process_max_fds", "Most file descriptors that may be open.",
            static_cast<std::uint64_t>(files.rlim_cur));
  out.gauge("process_start_time_seconds", "When this process was started.",
            machine + static_cast<double>(stat[start_ticks]) / per_second);
  return out.take();
}

} // namespace troupe
