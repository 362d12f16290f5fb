#include "net/server/io_worker.hpp"

#include "net/server/operator_socket.hpp"
#include "net/server/transport.hpp"

#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <ctime>
#include <future>

namespace troupe::net {

namespace asio = boost::asio;

namespace {

// How often deadlines are looked at: a tenth of the shortest that matters.
constexpr std::chrono::milliseconds tick_every{100};
// Without descriptors, accepting again at once would only spin.
constexpr std::chrono::milliseconds accept_pause{100};
// With those who hold a connection that has ended.
constexpr std::chrono::milliseconds patience{200};

thread_local const io_worker* current = nullptr;

int open_reserve() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool out_of_resources(const boost::system::error_code& ec) {
  return ec == boost::system::errc::too_many_files_open
    || ec == boost::system::errc::too_many_files_open_in_system
    || ec == boost::system::errc::no_buffer_space
    || ec == boost::system::errc::not_enough_memory;
}

/// What a stranger over the cap gets: short, fixed, and no state of ours.
constexpr std::string_view over_capacity_reply
  = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n"
    "retry-after: 1\r\nconnection: close\r\n\r\n";
constexpr std::string_view not_an_operator_reply
  = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

} // namespace

io_worker::io_worker(std::shared_ptr<server_state> h, asio::io_context* host)
    : state_{std::move(h)}, own_{host ? nullptr
                                      : std::make_unique<asio::io_context>(1)},
      context_{host ? *host : *own_}, counts_{state_->routes.routes().size()},
      now_{std::chrono::steady_clock::now()}, spare_fd_{open_reserve()} {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint32_t>(::time(nullptr));
  char text[16];
  std::snprintf(text, sizeof text, "%08x-", random);
  id_prefix_ = text;
  refresh_clock();
}

io_worker::~io_worker() {
  if (spare_fd_ >= 0)
    ::close(spare_fd_);
}

bool io_worker::on_own_thread() const {
  return current == this || context_.get_executor().running_in_this_thread();
}

std::string io_worker::make_request_id() {
  return id_prefix_ + std::to_string(++id_count_);
}

void io_worker::listen_on(int descriptor, bool loopback) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size);
  auto family
    = bound.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
  auto d = std::make_unique<listening_socket>(listening_socket{
    tcp_acceptor{context_.get_executor(), family, descriptor}, loopback});
  listening_.push_back(std::move(d));
}

/// Accepting, reading and writing do not tell a Unix socket from TCP, so it
/// goes by the name of the other: one kind of connection, compiled once.
void io_worker::listen_to_operators(int descriptor) {
  listening_.push_back(std::make_unique<listening_socket>(listening_socket{
    tcp_acceptor{context_.get_executor(), asio::ip::tcp::v4(), descriptor},
    true, true}));
}

void io_worker::start() {
  started_ = true;
  asio::post(context_, [self = shared_from_this()] { self->begin(); });
  if (!own_)
    return;
  thread_ = std::thread([self = shared_from_this()] {
    // Signals belong to the main thread.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "troupe-http");
    self->adopt_this_thread();
    self->context_.run();
  });
  if (auto* watch = state_->options.watch)
    watched_ = watch->turns("http", context_.get_executor());
}

void io_worker::begin() {
  tasks_->open();
  for (auto& d : listening_)
    accept(*d);
  tick();
}

void io_worker::adopt_this_thread() {
  current = this;
}

void io_worker::poll() {
  context_.restart();
  context_.poll();
}

void io_worker::accept(listening_socket& d) {
  d.acceptor.async_accept(context_.get_executor(),
                          [self = shared_from_this(), &d](
                            boost::system::error_code ec, tcp_socket socket) {
                            self->accepted(d, ec, std::move(socket));
                          });
}

void io_worker::accepted(listening_socket& d, boost::system::error_code ec,
                         tcp_socket socket) {
  if (ec == asio::error::operation_aborted || !d.acceptor.is_open())
    return;
  if (ec) {
    counts_.accept_failures.add();
    if (out_of_resources(ec))
      out_of_descriptors(d);
    else
      accept(d); // the client was gone already
    return;
  }
  try {
    on_connection(d, std::move(socket));
  } catch (const std::exception&) {
    counts_.turned_away.add(); // no memory for one more
  }
  accept(d);
}

/// An idle connection makes room; without one the reserved descriptor lets
/// one client in, so that operators still get an answer.
void io_worker::out_of_descriptors(listening_socket& d) {
  // The kernel says so before it looks whether anybody is there.
  pollfd waiting{d.acceptor.native_handle(), POLLIN, 0};
  if (::poll(&waiting, 1, 0) == 0) {
    d.acceptor.async_wait(
      tcp_acceptor::wait_read,
      [self = shared_from_this(), &d](boost::system::error_code ec) {
        if (!ec && d.acceptor.is_open())
          self->accept(d);
      });
  } else if (evict_idle()) {
    accept(d);
  } else if (spare_fd_ >= 0) {
    ::close(std::exchange(spare_fd_, -1));
    reserved_descriptor_used_ = true;
    accept(d);
  } else {
    later(d);
  }
}

void io_worker::later(listening_socket& d) {
  auto timer = std::make_shared<asio::steady_timer>(context_, accept_pause);
  timer->async_wait(
    [self = shared_from_this(), &d, timer](boost::system::error_code ec) {
      if (!ec && d.acceptor.is_open())
        self->accept(d);
    });
}

bool io_worker::evict_idle() {
  connection* oldest = nullptr;
  for (auto& c : connections_)
    if (c.is_idle() && (!oldest || c.since() < oldest->since()))
      oldest = &c;
  if (!oldest)
    return false;
  counts_.evicted.add();
  oldest->abort();
  return true;
}

void io_worker::on_connection(listening_socket& d, tcp_socket socket) {
  boost::system::error_code ec;
  connection::traits traits;
  traits.loopback = d.loopback;
  traits.operators = d.operators;
  if (!d.operators) {
    traits.peer = socket.remote_endpoint(ec).address();
    if (ec)
      return; // gone again
    traits.local = socket.local_endpoint(ec).address();
    socket.set_option(asio::ip::tcp::no_delay(true), ec);
  }
  counts_.accepted.add();
  const auto& options = state_->options;
  traits.on_reserved_descriptor
    = std::exchange(reserved_descriptor_used_, false);
  if (d.operators && !is_operator_process(socket.native_handle())) {
    turn_away(socket, not_an_operator_reply);
    if (traits.on_reserved_descriptor)
      restore_spare_fd();
    return;
  }
  bool room
    = state_->connections.load() < options.connection_limit || evict_idle();
  if (!room
      || !state_->addresses.enter(traits.peer,
                                  options.connections_per_address)) {
    turn_away(socket, over_capacity_reply);
    if (traits.on_reserved_descriptor)
      restore_spare_fd();
    return;
  }
  state_->connections.fetch_add(1);
  auto tls = d.operators ? nullptr : state_->tls();
  traits.tls = tls != nullptr;
  auto fresh = tls
    ? make_tls(shared_from_this(), traits, std::move(socket), std::move(tls))
    : make_plain(shared_from_this(), traits, std::move(socket));
  add_connection(*fresh);
  fresh->begin();
}

void io_worker::turn_away(tcp_socket& socket, std::string_view reply) {
  boost::system::error_code ignored;
  counts_.turned_away.add();
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(reply), ignored);
}

void io_worker::call_after(std::chrono::milliseconds time,
                           std::function<void()> then) {
  if (closed())
    return;
  auto at = std::chrono::steady_clock::now() + time;
  tasks_->put(
    [self = shared_from_this(), at, then = std::move(then)]() mutable {
      if (self->closed())
        return;
      if (at <= std::chrono::steady_clock::now())
        then(); // what is due should not wait for a tick
      else
        self->calls_.emplace(at, std::move(then));
    });
}

void io_worker::restore_spare_fd() {
  auto restore = [self = shared_from_this()] {
    if (self->spare_fd_ < 0)
      self->spare_fd_ = open_reserve();
  };
  if (on_own_thread())
    restore();
  else if (!closed())
    asio::post(context_, restore);
}

void io_worker::refresh_clock() {
  now_ = std::chrono::steady_clock::now();
  auto second = ::time(nullptr);
  if (second == date_second_)
    return;
  date_second_ = second;
  std::tm parts{};
  gmtime_r(&second, &parts);
  char text[40];
  auto n
    = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  date_.assign(text, n);
}

void io_worker::tick() {
  refresh_clock();
  for (auto i = connections_.begin(); i != connections_.end();) {
    auto& c = *i++; // it may leave the list
    auto keep = c.shared_from_this();
    c.tick(now_);
  }
  while (!calls_.empty() && calls_.begin()->first <= now_) {
    auto due = calls_.extract(calls_.begin());
    due.mapped()();
  }
  ticker_.expires_after(tick_every);
  ticker_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
    // A wait that was over already cannot be cancelled any more.
    if (!ec && !self->closed())
      self->tick();
  });
}

void io_worker::drain() {
  asio::post(context_, [self = shared_from_this()] {
    for (auto i = self->connections_.begin(); i != self->connections_.end();) {
      auto& c = *i++;
      c.close_if_idle();
    }
  });
}

void io_worker::stop() {
  if (closed_.load() || !std::exchange(started_, false))
    return;
  watched_.stop();
  std::promise<void> alone;
  asio::post(context_, [self = shared_from_this(), &alone] {
    self->close_all();
    if (!self->own_)
      self->when_left_alone(clock::now() + patience,
                            [&alone] { alone.set_value(); });
    // Else the thread ends, not by a `stop`: what is queued holds connections,
    // and lets go of them now.
  });
  if (own_)
    thread_.join();
  else
    alone.get_future().wait();
}

void io_worker::close_all() {
  for (auto& d : listening_) {
    boost::system::error_code ignored;
    d->acceptor.close(ignored);
  }
  while (!connections_.empty())
    connections_.front().abort();
  ticker_.cancel();
  calls_.clear();
  tasks_->close();
  closed_.store(true);
}

/// What is queued holds us until it has had its turn. A guest has no thread to
/// join, and asks now and then; who never answers keeps nobody for long.
void io_worker::when_left_alone(clock::time_point until,
                                std::function<void()> then) {
  constexpr int owners = 2; // the server, and this timer
  constexpr std::chrono::milliseconds now_and_then{1};
  auto timer = std::make_shared<asio::steady_timer>(context_, now_and_then);
  timer->async_wait([self = shared_from_this(), then = std::move(then), timer,
                     until](boost::system::error_code) mutable {
    if (self.use_count() <= owners || clock::now() >= until)
      return then();
    self->when_left_alone(until, std::move(then));
  });
}

} // namespace troupe::net
