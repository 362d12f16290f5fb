#pragma once

#include "runtime/local/egress/accounts.hpp"
#include "runtime/local/egress/broker_process.hpp"
#include "runtime/local/isolation/seccomp.hpp"
#include "tests/runtime/local/egress/servers.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

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
#include <type_traits>
#include <vector>

/// What the broker's tests need around it: a tool in an empty network
/// namespace.
namespace troupe::network::test {

/// Forks brokers from this process, as the warden does from its own.
class forking_host final : public broker_host {
public:
  ~forking_host() override {
    while (!made_.empty())
      kill_broker(made_.begin()->first);
  }
  std::uint64_t start_broker(broker_descriptors with) override {
    auto made = fork_broker(std::move(with));
    if (made.pid < 0)
      return 0;
    const auto number = static_cast<std::uint64_t>(made.pid);
    made_.emplace(number, std::move(made));
    ++started_;
    return number;
  }
  void kill_broker(std::uint64_t number) override {
    if (auto node = made_.extract(number)) {
      ::kill(node.mapped().pid, SIGKILL);
      ::waitpid(node.mapped().pid, nullptr, 0);
    }
  }
  result<std::shared_ptr<shared<account>>>
  account_of(const organization_id& organization) override {
    return accounts_.of(organization);
  }
  int started() const { return started_; }
  /// Of the broker there is.
  pid_t pid() const { return made_.empty() ? -1 : made_.begin()->second.pid; }

private:
  accounts accounts_;
  std::map<std::uint64_t, broker_process> made_;
  std::atomic<int> started_{0};
};

/// What a run with a network is held to.
inline std::vector<sock_filter> filter_of_runs() {
  isolation::filter_options rules;
  rules.network = isolation::network_calls::notify;
  return isolation::build_filter(rules);
}

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
                std::vector<sock_filter> filter = filter_of_runs()) {
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
    auto opened
      = broker::open(io_.get_executor(),
                     {std::move(listener), std::move(policy),
                      std::move(options), default_organization(), host_});
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
    here([this] { broker_.reset(); });
    guard_.reset();
    if (thread_.joinable())
      thread_.join();
    ::unlink(resolv_.c_str());
  }

  bool started() const { return started_; }
  broker& its_broker() { return *broker_; }
  forking_host& its_host() { return *host_; }

  /// On the broker's thread.
  template <class Function>
  std::invoke_result_t<Function> here(Function function) {
    std::packaged_task<std::invoke_result_t<Function>()> task{
      std::move(function)};
    auto done = task.get_future();
    if (thread_.joinable())
      boost::asio::post(io_, [&task] { task(); });
    else
      task();
    return done.get();
  }

  void kill() { ::kill(pid_, SIGKILL); }
  /// The tool's own children.
  bool kill_children() const {
    std::ifstream list{"/proc/" + std::to_string(pid_) + "/task/"
                       + std::to_string(pid_) + "/children"};
    int killed = 0;
    for (pid_t child; list >> child; ++killed)
      ::kill(child, SIGKILL);
    return killed > 0;
  }

  ending finish() {
    ending e;
    char bytes[4096];
    for (ssize_t n; (n = ::read(output_.get(), bytes, sizeof bytes)) > 0;)
      e.output.append(bytes, static_cast<std::size_t>(n));
    ::waitpid(pid_, &e.status, 0);
    pid_ = -1;
    e.report = here([this] { return broker_->end_run(); });
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
  std::shared_ptr<forking_host> host_ = std::make_shared<forking_host>();
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
  for (auto network : {"127.0.0.8/29", "127.0.0.16/28", "127.0.0.32/27",
                       "127.0.0.64/26", "127.0.0.128/25"})
    o.ordinary.push_back(*parse_ip_network(network));
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
