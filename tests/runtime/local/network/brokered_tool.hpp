#pragma once

#include "runtime/local/network/broker.hpp"
#include "runtime/local/network/dns_message.hpp"
#include "runtime/local/network/notify_calls.hpp"

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

#include <atomic>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

/// What the broker's tests need around it: a tool in an empty network
/// namespace, and servers in the host's.
namespace troupe::network::test {

/// Serves on a port of every address of the host until it goes away.
class server {
public:
  server(int family, int type) : fd_{::socket(family, type | SOCK_CLOEXEC, 0)} {
    sockaddr_storage any{};
    any.ss_family = static_cast<sa_family_t>(family);
    socklen_t size
      = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::bind(fd_.get(), reinterpret_cast<sockaddr*>(&any), size) != 0)
      return;
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(&any)->sin_port);
    if (type == SOCK_STREAM)
      ::listen(fd_.get(), 64);
  }
  virtual ~server() { stop(); }

  int port() const { return port_; }
  int contacts() const { return contacts_; }

protected:
  template <class Function>
  void serve(Function once) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0)
      return;
    end_.reset(pipe[1]);
    thread_ = std::thread{[this, once, until = pipe[0]] {
      unique_fd owned{until};
      for (;;) {
        pollfd both[2] = {{fd_.get(), POLLIN, 0}, {until, POLLIN, 0}};
        if (::poll(both, 2, -1) < 0 || both[1].revents != 0)
          return;
        once();
      }
    }};
  }
  void stop() {
    end_.reset();
    if (thread_.joinable())
      thread_.join();
  }

  unique_fd fd_;
  std::atomic<int> contacts_{0};

private:
  int port_ = 0;
  unique_fd end_;
  std::thread thread_;
};

/// Says "hello" to everybody.
class http_server : public server {
public:
  explicit http_server(int family = AF_INET) : server{family, SOCK_STREAM} {
    serve([this] {
      unique_fd client{::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (!client)
        return;
      ++contacts_;
      char request[4096];
      if (::read(client.get(), request, sizeof request) <= 0)
        return;
      std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                           "Connection: close\r\n\r\nhello";
      (void)!::write(client.get(), answer.data(), answer.size());
    });
  }
  ~http_server() override { stop(); }
};

class udp_echo : public server {
public:
  udp_echo() : server{AF_INET, SOCK_DGRAM} {
    serve([this] {
      char bytes[2048];
      sockaddr_storage from;
      socklen_t size = sizeof from;
      auto n = ::recvfrom(fd_.get(), bytes, sizeof bytes, 0,
                          reinterpret_cast<sockaddr*>(&from), &size);
      ++contacts_;
      ::sendto(fd_.get(), bytes, n > 0 ? static_cast<std::size_t>(n) : 0, 0,
               reinterpret_cast<sockaddr*>(&from), size);
    });
  }
  ~udp_echo() override { stop(); }
};

/// A nameserver: "<a>-<b>-<c>-<d>.*" has that address, "none.*" has none.
class nameserver : public server {
public:
  nameserver() : server{AF_INET, SOCK_DGRAM} {
    serve([this] { answer(); });
  }
  ~nameserver() override { stop(); }

private:
  void answer() {
    char bytes[2048];
    sockaddr_storage from;
    socklen_t size = sizeof from;
    auto n = ::recvfrom(fd_.get(), bytes, sizeof bytes, 0,
                        reinterpret_cast<sockaddr*>(&from), &size);
    std::string packet{bytes, n > 0 ? static_cast<std::size_t>(n) : 0};
    auto q = parse_dns_query(packet);
    if (!q)
      return;
    ++contacts_;
    auto text = q->name.substr(0, q->name.find('.'));
    for (auto& c : text)
      c = c == '-' ? '.' : c;
    auto a = parse_address(text);
    auto reply = refuse_dns_query(
      packet, *q, a ? dns_code::no_error : dns_code::no_such_name);
    if (a && q->type == dns_type_a) {
      reply[7] = 1;
      reply += std::string{"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4", 12};
      reply.append(reinterpret_cast<const char*>(a->bytes.data()), 4);
    }
    ::sendto(fd_.get(), reply.data(), reply.size(), 0,
             reinterpret_cast<sockaddr*>(&from), size);
  }
};

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

} // namespace troupe::network::test
