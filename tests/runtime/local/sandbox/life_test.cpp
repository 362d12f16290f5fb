#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(life_of_a_sandbox)

namespace {

/// Who is in a sandbox is who came with it.
std::vector<int> newcomers(sandbox_host& host, const std::vector<int>& before) {
  auto now = processes_below(host.host().backend().warden_pid());
  std::erase_if(now, [&](int pid) {
    return std::ranges::find(before, pid) != before.end();
  });
  return now;
}

} // namespace

BOOST_AUTO_TEST_CASE(ends_with_everything_in_it_when_it_is_destroyed) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  const auto before = processes_below(backend.backend().warden_pid());
  auto box = host.make();
  BOOST_TEST(host.call(host.provider().list(within(std::chrono::seconds{1})))
               .value()
               .size()
             == 1u);
  auto seen = std::make_shared<process_watch>();
  auto begun
    = host.start(box,
                 "trap '' TERM HUP INT; for i in $(seq 20); do (setsid "
                 "sleep 1000 &); done; echo on; sleep 1000",
                 *seen);
  BOOST_REQUIRE(begun && seen->wait_for_output("on"));
  std::vector<unique_fd> watched;
  for (int pid : newcomers(host, before))
    watched.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  BOOST_TEST(watched.size() > 20u);
  host.destroy(box);
  for (const auto& process : watched)
    BOOST_TEST(
      (!process
       || ::syscall(SYS_pidfd_send_signal, process.get(), 0, nullptr, 0) != 0));
  auto end = seen->wait();
  BOOST_REQUIRE(!end);
  BOOST_TEST((end.error().code == ec::not_found));
  host.destroy(box); // one that is gone is fine
  BOOST_TEST((host.shell(box, ":").refused() == ec::not_found));
  BOOST_TEST(!host.read(box, "/etc/passwd").has_value());
  BOOST_TEST(host.call(host.provider().list(within(std::chrono::seconds{1})))
               .value()
               .empty());
}

BOOST_AUTO_TEST_CASE(is_lost_when_its_keeper_is_killed) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  const auto warden = living_warden(backend);
  auto box = host.make();
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(box, "echo on; sleep 1000", *seen));
  BOOST_REQUIRE(seen->wait_for_output("on"));
  for (int pid : processes_below(warden))
    if (status_line(pid, "PPid") == std::to_string(warden))
      ::kill(pid, SIGKILL);
  auto end = seen->wait();
  BOOST_REQUIRE(!end);
  BOOST_TEST(end.error().text.find("lost") != std::string::npos);
  BOOST_TEST(eventually([&] { return processes_below(warden).empty(); }));
  BOOST_TEST(eventually(
    [&] { return host.shell(box, ":").refused() == ec::not_found; }));
  living next{host}; // and the engine goes on
  BOOST_TEST(host.shell(*next, "echo on").out == "on\n");
}

BOOST_AUTO_TEST_CASE(is_lost_when_the_warden_is_killed) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  const auto warden = living_warden(backend);
  auto box = host.make();
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(box, "echo on; sleep 1000", *seen));
  BOOST_REQUIRE(seen->wait_for_output("on"));
  std::vector<unique_fd> watched;
  for (int pid : processes_below(warden))
    watched.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ::kill(warden, SIGKILL);
  BOOST_TEST(!seen->wait().has_value());
  BOOST_TEST(eventually([&] {
    return std::ranges::all_of(watched, [](const unique_fd& process) {
      return ::syscall(SYS_pidfd_send_signal, process.get(), 0, nullptr, 0)
        != 0;
    });
  }));
  BOOST_TEST(eventually([&] {
    auto made = host.call(host.provider().create(
      sandbox_host::request(), within(std::chrono::seconds{30})));
    if (made.sandbox)
      host.destroy(*made.sandbox);
    return made.sandbox.has_value();
  }));
}

BOOST_AUTO_TEST_CASE(is_over_when_its_time_is) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.lifetime = std::chrono::seconds{1};
  auto box = host.make(std::move(wanted));
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(box, "sleep 1000", *seen));
  auto end = seen->wait();
  BOOST_REQUIRE(!end);
  BOOST_TEST((end.error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(goes_on_for_whom_renews_it) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto again = host.call(host.provider().reconnect(
    *box, std::chrono::seconds{600}, within(std::chrono::seconds{1})));
  BOOST_TEST(again.has_value());
  auto none = host.call(host.provider().reconnect(
    {"sb_none"}, std::chrono::seconds{600}, within(std::chrono::seconds{1})));
  BOOST_REQUIRE(!none);
  BOOST_TEST((none.error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(never_begins_with_what_this_machine_cannot_do_yet) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.pip_requirements.emplace_back();
  auto made = host.call(
    host.provider().create(std::move(wanted), within(std::chrono::seconds{5})));
  BOOST_REQUIRE(!made.sandbox);
  BOOST_TEST((made.sandbox.error().code == ec::invalid_request));
  BOOST_TEST(!made.may_exist);
  BOOST_TEST(made.sandbox.error().fields.front().pointer == "/packages");
}

BOOST_AUTO_TEST_CASE(leaves_nothing_when_its_engine_stops) {
  TROUPE_NEEDS("user_namespace");
  std::vector<unique_fd> watched;
  std::string directory;
  {
    local_host backend{without_interpreters()};
    sandbox_host host{backend};
    directory = backend.backend().instance_directory();
    for (int i = 0; i < 3; ++i) {
      auto box = host.make();
      auto seen = std::make_shared<process_watch>();
      BOOST_REQUIRE(host.start(box, "setsid sleep 1000 & sleep 1000", *seen));
    }
    for (int pid : processes_below(backend.backend().warden_pid()))
      watched.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    BOOST_TEST(watched.size() >= 3u * 4u);
  }
  for (const auto& process : watched)
    BOOST_TEST(
      (::syscall(SYS_pidfd_send_signal, process.get(), 0, nullptr, 0) != 0));
  BOOST_TEST(!std::filesystem::exists(directory));
}

BOOST_AUTO_TEST_SUITE_END()
