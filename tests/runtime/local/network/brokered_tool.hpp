#pragma once

#include "runtime/local/network/broker.hpp"
#include "runtime/local/network/notify_calls.hpp"
#include "tests/runtime/local/network/servers.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

/// What the broker's tests need around it: a tool in an empty network
/// namespace.
namespace troupe::network::test {

/// A tool behind a broker, as the isolation makes one: no network of its own.
class brokered_tool {
public:
  struct ending {
    int status = -1;
    std::string output; // stdout and stderr
    broker::report report;
  };

  brokered_tool(std::vector<std::string> argv, network_policy policy,
                broker_options options = {},
                std::vector<sock_filter> filter = notify_filter()) {
    resolv_ = "/tmp/troupe-test-resolv-" + std::to_string(::getpid());
    std::ofstream{resolv_} << "nameserver 127.0.0.53\noptions timeout:5\n";
    int go[2], out[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0
        || ::pipe2(out, O_CLOEXEC) != 0)
      return;
    std::vector<char*> args;
    for (auto& a : argv)
      args.push_back(a.data());
    args.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0)
      become(args, filter, go[1], out[1]);
    ::close(go[1]);
    ::close(out[1]);
    go_.reset(go[0]);
    output_.reset(out[0]);
    int theirs = -1;
    if (::read(go_.get(), &theirs, sizeof theirs) != sizeof theirs
        || theirs < 0)
      return;
    unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
    unique_fd listener{
      static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), theirs, 0))};
    auto opened = broker::open(io_.get_executor(), std::move(listener),
                               std::move(policy), std::move(options));
    if (!opened)
      return;
    broker_ = std::move(*opened);
    thread_ = std::thread{[this] { io_.run(); }};
    started_ = ::write(go_.get(), "x", 1) == 1;
  }

  ~brokered_tool() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    broker_.reset();
    guard_.reset();
    if (thread_.joinable())
      thread_.join();
    ::unlink(resolv_.c_str());
  }

  bool started() const { return started_; }
  broker& its_broker() { return *broker_; }

  ending finish() {
    ending e;
    char bytes[4096];
    for (ssize_t n; (n = ::read(output_.get(), bytes, sizeof bytes)) > 0;)
      e.output.append(bytes, static_cast<std::size_t>(n));
    ::waitpid(pid_, &e.status, 0);
    pid_ = -1;
    e.report = broker_->decided();
    return e;
  }

private:
  /// Only calls that are safe between fork and exec.
  [[noreturn]] void become(std::vector<char*>& args,
                           std::vector<sock_filter>& filter, int go, int out) {
    int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
    int listener = -1;
    sock_fprog program{static_cast<unsigned short>(filter.size()),
                       filter.data()};
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS | user) == 0
        && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
        && ::mount(resolv_.c_str(), "/etc/resolv.conf", nullptr, MS_BIND,
                   nullptr)
          == 0
        && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
      listener
        = static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                     SECCOMP_FILTER_FLAG_NEW_LISTENER
                                       | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                                     &program));
    char word;
    if (::write(go, &listener, sizeof listener) != sizeof listener
        || listener < 0 || ::read(go, &word, 1) != 1)
      ::_exit(120);
    ::close(listener);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execvp(args[0], args.data());
    ::_exit(121);
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    guard_{io_.get_executor()};
  std::shared_ptr<broker> broker_;
  std::thread thread_;
  std::string resolv_;
  pid_t pid_ = -1;
  unique_fd go_, output_;
  bool started_ = false;
};

inline brokered_tool::ending run_python(const std::string& code,
                                        network_policy policy,
                                        broker_options options = {}) {
  return brokered_tool{
    {"python3", "-c", code}, std::move(policy), std::move(options)}
    .finish();
}

inline network_policy list(std::vector<std::string> allow) {
  return {network_mode::listed, std::move(allow)};
}

/// 127.0.0.8 and above count as ordinary addresses of the internet; then the
/// guard, which knows better, must be off.
inline broker_options pretend_public(const nameserver& names) {
  broker_options o;
  o.nameservers = {*parse_address("127.0.0.1")};
  o.nameserver_port = static_cast<std::uint16_t>(names.port());
  o.guard_sockets = false;
  o.closed = [](const ip_address& a) -> std::string_view {
    if (!a.v6 && a.bytes[0] == 127 && a.bytes[3] >= 8)
      return "";
    return special_purpose(a);
  };
  return o;
}

inline bool has(const broker::report& report, std::string_view target,
                bool allowed) {
  return std::any_of(report.events.begin(), report.events.end(), [&](auto& e) {
    return e.allowed == allowed && e.target.find(target) != std::string::npos;
  });
}

inline std::string text(int n) {
  return std::to_string(n);
}

} // namespace troupe::network::test
