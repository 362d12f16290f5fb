#include "runtime/local/egress/dns_proxy.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <sys/random.h>

#include <fstream>
#include <iterator>

namespace troupe::network {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t most_nameservers = 3; // as the C library
constexpr std::size_t most_clients = 4'096; // ports admitted in one run

/// What programs are ready to receive in one datagram, and what most
/// nameservers are ready to send. Longer answers are asked for over TCP.
constexpr std::uint16_t roomy_datagram = 4'096;
constexpr std::size_t longest_answer = 32'768;

asio::ip::address to_asio(const ip_address& a) {
  if (a.v6)
    return asio::ip::address_v6{a.bytes};
  return asio::ip::address_v4{{a.bytes[0], a.bytes[1], a.bytes[2], a.bytes[3]}};
}

/// Ids and source ports are what keeps a forger out: both are random.
std::uint16_t random_id() {
  std::uint16_t id = 0;
  if (::getrandom(&id, sizeof id, 0) != sizeof id)
    id = 0;
  return id;
}

std::vector<ip_address> hosts_nameservers() {
  std::ifstream file{"/etc/resolv.conf"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  auto found = nameservers_in(text);
  if (found.empty()) // what the C library assumes
    found.push_back(*parse_address("127.0.0.1"));
  return found;
}

} // namespace

std::vector<ip_address> nameservers_in(std::string_view text) {
  std::vector<ip_address> found;
  while (!text.empty() && found.size() < most_nameservers) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    constexpr std::string_view word = "nameserver";
    if (!line.starts_with(word))
      continue;
    line.remove_prefix(word.size());
    auto first = line.find_first_not_of(" \t");
    if (first == 0 || first == line.npos)
      continue;
    line.remove_prefix(first);
    auto a = parse_address(line.substr(0, line.find_first_of(" \t\r#;%")));
    if (a)
      found.push_back(*a);
  }
  return found;
}

/// A question on its way to the nameservers.
struct resolver::lookup {
  lookup(const asio::any_io_executor& executor)
      : socket{executor}, stream{executor}, timer{executor} {}

  dns_query asked; // with our id
  std::uint16_t client_id = 0;
  udp::endpoint client;
  std::string packet;
  std::size_t server = 0; // which of `upstream_` is being asked
  std::uint64_t round = 0;
  bool done = false;
  bool adds_room = false; // the tool did not ask for EDNS
  udp::socket socket;
  asio::ip::tcp::socket stream; // for an answer that was cut
  asio::steady_timer timer;
  std::array<char, roomy_datagram> buffer;
  std::string whole; // over TCP: its length, then itself
};

ip_address resolver::address() {
  return {{127, 0, 0, 53}, false};
}

result<std::shared_ptr<resolver>>
resolver::open(asio::any_io_executor executor, const broker_options& options) {
  std::shared_ptr<resolver> self{new resolver{std::move(executor), options}};
  error_code bad;
  self->socket_.open(udp::v4(), bad);
  if (!bad)
    self->socket_.bind({to_asio(address()), 0}, bad);
  if (!bad)
    self->port_ = self->socket_.local_endpoint(bad).port();
  if (bad)
    return error{
      ec::unavailable, "no socket for name lookups: " + bad.message(), {}, {}};
  for (auto& a :
       options.nameservers.empty() ? hosts_nameservers() : options.nameservers)
    self->upstream_.emplace_back(to_asio(a), options.nameserver_port);
  self->receive();
  return self;
}

void resolver::serve(std::shared_ptr<judge> whose) {
  judge_ = std::move(whose);
  ++round_;
  clients_.clear();
  auto all = std::exchange(lookups_, {});
  for (auto& l : all)
    finish(l);
}

void resolver::admit(std::uint16_t port) {
  if (clients_.size() < most_clients)
    clients_.insert(port);
}

void resolver::close() {
  error_code ignored;
  socket_.close(ignored);
  judge_.reset();
  auto all = std::exchange(lookups_, {});
  for (auto& l : all)
    finish(l);
}

void resolver::receive() {
  socket_.async_receive_from(
    asio::buffer(buffer_), from_,
    [self = shared_from_this()](error_code bad, std::size_t size) {
      if (bad == asio::error::operation_aborted || !self->socket_.is_open())
        return;
      if (!bad) // an error is an earlier answer that nobody took
        self->handle({self->buffer_.data(), size});
      self->receive();
    });
}

void resolver::handle(std::string_view packet) {
  if (judge_ == nullptr || clients_.count(from_.port()) == 0)
    return;
  auto asked = parse_dns_query(packet);
  if (!asked)
    return;
  if (!judge_->name(asked->name).allowed)
    answer(from_, refuse_dns_query(packet, *asked, dns_code::no_such_name));
  else if (lookups_.size() >= options_.lookups)
    answer(from_, refuse_dns_query(packet, *asked, dns_code::server_failure));
  else
    start(std::move(*asked), packet);
}

void resolver::start(dns_query asked, std::string_view packet) {
  auto l = std::make_shared<lookup>(socket_.get_executor());
  l->asked = std::move(asked);
  l->client_id = l->asked.id;
  l->asked.id = random_id();
  l->packet = with_room(std::string{packet}, roomy_datagram);
  l->adds_room = l->packet.size() != packet.size();
  set_dns_id(l->packet, l->asked.id);
  l->client = from_;
  l->round = round_;
  lookups_.insert(l);
  ask(l);
}

void resolver::ask(const std::shared_ptr<lookup>& l) {
  if (l->server >= upstream_.size()) {
    set_dns_id(l->packet, l->client_id);
    if (l->round == round_)
      answer(l->client,
             refuse_dns_query(l->packet, l->asked, dns_code::server_failure));
    finish(l);
    return;
  }
  error_code bad;
  l->stream.close(bad);
  l->socket.close(bad); // a new one has another port
  l->socket = udp::socket{socket_.get_executor()};
  auto& to = upstream_[l->server++];
  l->socket.open(to.protocol(), bad);
  if (!bad)
    l->socket.connect(to, bad); // so that nobody else may answer
  if (!bad)
    l->socket.send(asio::buffer(l->packet), 0, bad);
  auto share = options_.lookup_timeout / static_cast<int>(upstream_.size());
  l->timer.expires_after(bad ? std::chrono::milliseconds{0} : share);
  l->timer.async_wait([self = shared_from_this(), l](error_code stopped) {
    if (!stopped && !l->done)
      self->ask(l);
  });
  if (!bad)
    await_answer(l);
}

void resolver::await_answer(const std::shared_ptr<lookup>& l) {
  l->socket.async_receive(asio::buffer(l->buffer),
                          [self = shared_from_this(), l, server = l->server](
                            error_code bad, std::size_t size) {
                            if (l->done || server != l->server)
                              return; // the timer was faster
                            if (bad)
                              self->ask(l); // refused, say: the next one
                            else
                              self->answered(l, {l->buffer.data(), size});
                          });
}

void resolver::answered(const std::shared_ptr<lookup>& l, std::string packet) {
  auto a = parse_dns_answer(packet, l->asked);
  if (!a) {
    await_answer(l); // a forger's, or garbage: the real one may still come
  } else if (a->code == dns_code::format_error && l->adds_room) {
    l->packet = without_room(std::move(l->packet)); // too old to know of it
    l->adds_room = false;
    --l->server;
    ask(l);
  } else if (is_cut(packet)) {
    ask_for_all(l, std::move(packet));
  } else {
    pass_on(l, std::move(packet));
  }
}

void resolver::ask_for_all(const std::shared_ptr<lookup>& l, std::string cut) {
  const auto& from = upstream_[l->server - 1];
  auto make_do = [self = shared_from_this(), l, server = l->server,
                  cut = std::move(cut)](error_code bad) {
    const bool late = l->done || server != l->server;
    if (bad && !late)
      self->pass_on(l, cut);
    return bad || late;
  };
  auto read
    = [self = shared_from_this(), l, make_do](error_code bad, std::size_t) {
        if (make_do(bad))
          return;
        if (!parse_dns_answer(l->whole, l->asked))
          return void(make_do(asio::error::invalid_argument));
        self->pass_on(l, std::move(l->whole));
      };
  auto measured = [l, make_do, read](error_code bad, std::size_t) {
    if (make_do(bad))
      return;
    const auto byte
      = [&](std::size_t i) { return static_cast<unsigned char>(l->whole[i]); };
    const auto size = static_cast<std::size_t>(byte(0) << 8 | byte(1));
    if (size > longest_answer)
      return void(make_do(asio::error::message_size));
    l->whole.resize(size);
    asio::async_read(l->stream, asio::buffer(l->whole), read);
  };
  auto sent = [l, make_do, measured](error_code bad, std::size_t) {
    if (make_do(bad))
      return;
    l->whole.resize(2);
    asio::async_read(l->stream, asio::buffer(l->whole), measured);
  };
  auto connected = [l, make_do, sent](error_code bad) {
    if (make_do(bad))
      return;
    l->whole = {static_cast<char>(l->packet.size() >> 8),
                static_cast<char>(l->packet.size() & 0xff)};
    l->whole += l->packet;
    asio::async_write(l->stream, asio::buffer(l->whole), sent);
  };
  l->stream.async_connect({from.address(), from.port()}, connected);
}

/// There is no TCP for a tool to ask again by: what it gets is all there is.
void resolver::pass_on(const std::shared_ptr<lookup>& l, std::string packet) {
  auto a = parse_dns_answer(packet, l->asked);
  if (a && l->round == round_ && judge_ != nullptr) {
    for (auto& address : a->addresses)
      judge_->learn(l->asked.name, address, a->ttl, judge::clock::now());
    if (l->adds_room)
      packet = without_room(std::move(packet));
    say_whole(packet);
    set_dns_id(packet, l->client_id);
    answer(l->client, packet);
  }
  finish(l);
}

void resolver::answer(const udp::endpoint& to, const std::string& packet) {
  error_code ignored; // a datagram may be lost; the tool asks again
  socket_.send_to(asio::buffer(packet), to, 0, ignored);
}

void resolver::finish(const std::shared_ptr<lookup>& l) {
  l->done = true;
  l->timer.cancel();
  error_code ignored;
  l->socket.close(ignored);
  l->stream.close(ignored);
  lookups_.erase(l);
}

} // namespace troupe::network
