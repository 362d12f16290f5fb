// Names that are in no file system, and ways past the file system that is
// shown.
#include "runtime/base/unique_fd.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(hostile_names)

namespace {

constexpr int segment_key = 0x74727031;

/// What the host has, and no run is to find.
struct set_out {
  std::string name = "troupe-hostile-" + std::to_string(::getpid());
  unique_fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string path = cold_host().state_dir() + "/socket";
  unique_fd named{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int segment = ::shmget(segment_key, 4096, IPC_CREAT | 0666);

  set_out() {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path + 1, name.data(), name.size());
    const auto size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
    BOOST_REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at),
                         static_cast<socklen_t>(size))
                  == 0);
    BOOST_REQUIRE(::listen(listener.get(), 16) == 0);
    at = {};
    at.sun_family = AF_UNIX;
    BOOST_REQUIRE(path.size() < sizeof at.sun_path);
    std::memcpy(at.sun_path, path.data(), path.size());
    BOOST_REQUIRE(
      ::bind(named.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    BOOST_REQUIRE(::listen(named.get(), 16) == 0);
    BOOST_REQUIRE(segment >= 0);
  }
  ~set_out() {
    ::shmctl(segment, IPC_RMID, nullptr);
    ::unlink(path.c_str());
  }

  prepared_run seeker() const {
    return tool("import ctypes, errno, socket\n"
                "def reach(at):\n"
                "  s = socket.socket(socket.AF_UNIX)\n"
                "  return errno.errorcode.get(s.connect_ex(at), 'OK')\n"
                "def f():\n"
                "  return [reach('\\0"
                + name + "'), reach('" + path + "'), ctypes.CDLL(None).shmget("
                + std::to_string(segment_key) + ", 1, 0) >= 0]\n");
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(of_the_host_lead_nowhere) {
  TROUPE_NEEDS("private_tree")
  const set_out host;
  for (const auto level : {isolation_level::standard, isolation_level::strict})
    for (auto* from : {&warm_python(), &cold_host()}) {
      auto run = host.seeker();
      run.isolation = level;
      BOOST_TEST(from->run(run).value_json
                 == R"(["ECONNREFUSED","ENOENT",false])");
    }
}

BOOST_AUTO_TEST_CASE(of_the_host_are_found_without_isolation) {
  const set_out host;
  auto run = host.seeker();
  run.isolation = isolation_level::off;
  BOOST_TEST(cold_host().run(run).value_json == R"(["OK","OK",true])");
}

/// A directory that was handed in leads to nothing above it.
BOOST_AUTO_TEST_CASE(above_a_shown_directory_lead_nowhere) {
  TROUPE_NEEDS("private_tree")
  namespace fs = std::filesystem;
  const fs::path place = cold_host().state_dir() + "/above";
  fs::create_directories(place / "shown");
  unique_fd{::open((place / "beside").c_str(), O_CREAT | O_WRONLY, 0644)};
  auto run = tool("import os\n"
                  "def f():\n"
                  "  d = os.open('/data', os.O_RDONLY)\n"
                  "  up = os.open('..', os.O_RDONLY, dir_fd=d)\n"
                  "  os.fchdir(d)\n"
                  "  seen = [os.listdir(up) == os.listdir('/')]\n"
                  "  for p in ('../beside', '/proc/self/cwd/../beside',"
                  " '/data/../beside', '/proc/self/fd/%d/../beside' % d):\n"
                  "    seen.append(os.path.exists(p))\n"
                  "  os.symlink('/data/../beside', '/tmp/l')\n"
                  "  return seen + [os.path.exists('/tmp/l')]\n");
  run.mounts.push_back({(place / "shown").string(), "/data", false});
  for (auto* from : {&warm_python(), &cold_host()})
    BOOST_TEST(from->run(run).value_json
               == "[true,false,false,false,false,false]");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
