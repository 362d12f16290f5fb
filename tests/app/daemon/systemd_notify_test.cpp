#include "app/daemon/systemd_notify.hpp"
#include "tests/app/serving.hpp"

#include <signal.h>
#include <sys/un.h>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(service_managers)

namespace {

/// What systemd holds: a datagram socket.
struct manager_socket {
  temporary_folder folder;
  std::string path = (folder.path / "notify").string();
  int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  manager_socket() {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    BOOST_REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at)
                  == 0);
    timeval patience{60, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~manager_socket() { ::close(fd); }

  std::string next() {
    char words[1024];
    auto n = ::recv(fd, words, sizeof words, 0);
    return n > 0 ? std::string(words, static_cast<std::size_t>(n)) : "";
  }
  /// The next word that begins so, signs of life left aside.
  std::string next(std::string_view beginning) {
    for (auto word = next(); !word.empty(); word = next())
      if (word.starts_with(beginning))
        return word;
    return {};
  }
};

struct environment_variables {
  environment_variables(const std::string& socket, const std::string& usec) {
    ::setenv("NOTIFY_SOCKET", socket.c_str(), 1);
    ::setenv("WATCHDOG_USEC", usec.c_str(), 1);
  }
  ~environment_variables() {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
    ::unsetenv("WATCHDOG_PID");
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(take_their_words_out_of_the_environment) {
  environment_variables given{"/nowhere", "2000000"};
  auto manager = systemd_notify::from_environment();
  BOOST_TEST(!::getenv("NOTIFY_SOCKET"));
  BOOST_TEST((manager.watchdog() == std::chrono::seconds{2}));
  manager.alive(); // to nobody
  ::setenv("WATCHDOG_USEC", "2000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1); // another's
  BOOST_TEST(systemd_notify::from_environment().watchdog().count() == 0);
}

BOOST_AUTO_TEST_CASE(hear_from_a_serving_engine_all_its_life) {
  ::signal(SIGHUP, SIG_DFL); // `nohup` has it ignored, and an engine minds that
  manager_socket systemd;
  temporary_folder folder;
  environment_variables given{systemd.path, "200000"};
  serving engine{folder};
  auto ready = systemd.next("READY=1");
  BOOST_TEST(ready.find("STATUS=serving http://127.0.0.1:") != ready.npos,
             ready);
  BOOST_TEST(systemd.next("WATCHDOG=1") == "WATCHDOG=1\n");
  engine.tell(SIGHUP);
  BOOST_TEST(systemd.next("RELOADING=1").find("\nMONOTONIC_USEC=")
             != std::string::npos);
  BOOST_TEST(!systemd.next("READY=1").empty());
  auto address = address_in(engine.greeting());
  BOOST_TEST(ask(address, "GET /livez").find(" 200 ") != std::string::npos);
  BOOST_TEST(engine.end(SIGTERM) == 0);
  BOOST_TEST(!systemd.next("STOPPING=1").empty());
}

BOOST_AUTO_TEST_SUITE_END()
