// A port of this machine that leads into a sandbox: any protocol over TCP,
// through the engine's tunnels.
#include "app/commands/sandbox_words.hpp"
#include "net/client/client_tls.hpp"
#include "net/client/connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <iostream>

namespace troupe {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::chrono::seconds time_to_connect{30};
constexpr std::size_t longest_answer = 16u << 10;
constexpr std::size_t piece_size = 64u << 10;

struct forward_words {
  std::string id;
  std::string ports; // PORT or PORT:LOCAL
};

/// What all connections of one command need.
struct forwarding {
  explicit forwarding(engine_locator where) : engine{std::move(where)} {}

  engine_locator engine;
  std::string target;
  std::shared_ptr<asio::ssl::context> tls;
  net::resolver names;
};
using forwarding_ptr = std::shared_ptr<forwarding>;

/// One connection: to a program here, and to the engine.
struct tunnel {
  tunnel(tcp::socket from, const asio::any_io_executor& executor)
      : local{std::move(from)}, engine{executor} {}

  void close() {
    boost::system::error_code ignored;
    local.close(ignored);
    engine.close();
  }

  tcp::socket local;
  net::client_connection engine;
};
using tunnel_ptr = std::shared_ptr<tunnel>;

std::string request_of(const forwarding& to) {
  std::string text = "GET " + to.engine.server.prefix + to.target
    + " HTTP/1.1\r\nhost: " + to.engine.server.authority()
    + "\r\nconnection: Upgrade\r\nupgrade: tcp\r\n";
  if (!to.engine.key.empty())
    text += "authorization: Bearer " + to.engine.key.reveal() + "\r\n";
  return text + "\r\n";
}

/// What came behind the head of a 101, or why there is none.
asio::awaitable<result<std::string>> ask_for_tunnel(tunnel_ptr t,
                                                    forwarding_ptr to) {
  const auto text = request_of(*to);
  const std::array<asio::const_buffer, 1> pieces{asio::buffer(text)};
  if (auto why = co_await t->engine.write(pieces); why)
    co_return fail(ec::unavailable, "ask the engine: " + why.message());
  std::string head;
  std::array<char, 4096> some{};
  while (head.find("\r\n\r\n") == head.npos && head.size() < longest_answer) {
    boost::system::error_code why;
    const auto n = co_await t->engine.read(asio::buffer(some), why);
    if (why)
      co_return fail(ec::unavailable, "the engine answered: " + why.message());
    head.append(some.data(), n);
  }
  const auto end = head.find("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 101 ") || end == head.npos)
    co_return fail(ec::unavailable,
                   "the engine answered " + head.substr(0, head.find('\r')));
  co_return head.substr(end + 4);
}

asio::awaitable<void> pump_out(tunnel_ptr t) {
  std::vector<char> some(piece_size);
  for (;;) {
    boost::system::error_code why;
    const auto n = co_await t->local.async_read_some(
      asio::buffer(some), asio::redirect_error(asio::use_awaitable, why));
    if (why)
      break;
    const std::array<asio::const_buffer, 1> pieces{
      asio::buffer(some.data(), n)};
    if (co_await t->engine.write(pieces))
      break;
  }
  t->close();
}

asio::awaitable<void> pump_in(tunnel_ptr t, std::string first) {
  boost::system::error_code why;
  co_await asio::async_write(t->local, asio::buffer(first),
                             asio::redirect_error(asio::use_awaitable, why));
  std::vector<char> some(piece_size);
  while (!why) {
    const auto n = co_await t->engine.read(asio::buffer(some), why);
    if (why)
      break;
    co_await asio::async_write(t->local, asio::buffer(some.data(), n),
                               asio::redirect_error(asio::use_awaitable, why));
  }
  t->close();
}

asio::awaitable<void> carry(tunnel_ptr t, forwarding_ptr to) {
  const auto& server = to->engine.server;
  const auto deadline = std::chrono::steady_clock::now() + time_to_connect;
  net::address_rule any;
  auto places = co_await to->names.resolve(server.host, server.port, deadline,
                                           std::move(any));
  result<void> open{};
  if (places)
    open
      = co_await t->engine.open(server, std::move(*places), *to->tls, deadline);
  else
    open = places.error();
  if (!open) {
    std::cerr << "troupe: " << open.error().text << std::endl;
    co_return t->close();
  }
  auto first = co_await ask_for_tunnel(t, to);
  if (!first) {
    std::cerr << "troupe: " << first.error().text << std::endl;
    co_return t->close();
  }
  t->engine.never_expires();
  auto executor = t->local.get_executor();
  asio::co_spawn(executor, pump_out(t), asio::detached);
  co_await pump_in(t, std::move(*first));
}

asio::awaitable<void> accept_all(std::shared_ptr<tcp::acceptor> from,
                                 forwarding_ptr to) {
  for (;;) {
    boost::system::error_code why;
    auto one = co_await from->async_accept(
      asio::redirect_error(asio::use_awaitable, why));
    if (why == asio::error::operation_aborted)
      break;
    if (why)
      continue;
    auto executor = from->get_executor();
    auto t = std::make_shared<tunnel>(std::move(one), executor);
    asio::co_spawn(executor, carry(t, to), asio::detached);
  }
}

struct port_pair {
  std::uint16_t inside = 0;
  std::uint16_t here = 0;
};

result<port_pair> parse_ports(const std::string& text) {
  const auto colon = text.find(':');
  port_pair p;
  const auto read = [](std::string_view digits, std::uint16_t& into) {
    const auto* end = digits.data() + digits.size();
    const auto [at, code] = std::from_chars(digits.data(), end, into);
    return !digits.empty() && code == std::errc{} && at == end;
  };
  std::string_view all{text};
  const bool good = read(all.substr(0, colon), p.inside) && p.inside != 0
    && (colon == text.npos || read(all.substr(colon + 1), p.here));
  if (!good)
    return bad_field("PORT", "'" + text + "' is no port",
                     "write 3000, or 3000:8080 for another port here");
  if (colon == text.npos)
    p.here = p.inside;
  return p;
}

result<int> forward(const forward_words& said, const session_options& how) {
  auto ports = parse_ports(said.ports);
  if (!ports)
    return ports.error();
  auto engine = find_engine(how);
  if (!engine)
    return engine.error();
  if (!*engine)
    return fail(ec::unavailable,
                "no engine serves; start one with `troupe "
                "serve`, or name it with --server");
  auto to = std::make_shared<forwarding>(std::move(**engine));
  to->target = sandbox_target(
    said.id, "/ports/" + std::to_string(ports->inside) + "/tunnel");
  const auto& o = to->engine.client;
  auto tls = net::make_client_tls(
    o.ca_file, {o.only_certificate, o.certificate_file, o.key_file});
  if (!tls)
    return tls.error();
  to->tls = std::move(*tls);
  asio::io_context io{1};
  auto acceptor = std::make_shared<tcp::acceptor>(io);
  const tcp::endpoint here{asio::ip::address_v4::loopback(), ports->here};
  boost::system::error_code why;
  acceptor->open(here.protocol(), why);
  acceptor->set_option(tcp::acceptor::reuse_address(true), why);
  acceptor->bind(here, why);
  if (!why)
    acceptor->listen(tcp::acceptor::max_listen_connections, why);
  if (why)
    return fail(ec::unavailable,
                "listen on 127.0.0.1:" + std::to_string(ports->here) + ": "
                  + why.message() + "; name another port: "
                  + std::to_string(ports->inside) + ":OTHER");
  std::cout << "127.0.0.1:" << acceptor->local_endpoint().port()
            << " leads to port " << ports->inside << " of the sandbox"
            << std::endl;
  asio::co_spawn(io, accept_all(acceptor, to), asio::detached);
  io.run();
  return int{exit_ok};
}

} // namespace

void add_sandbox_forward_command(CLI::App* group, invocation& call) {
  auto said = std::make_shared<forward_words>();
  auto* cmd = group->add_subcommand(
    "forward", "Forward a port of this machine to a port of a sandbox");
  cmd->add_option("ID", said->id, "Sandbox id")->required();
  cmd
    ->add_option("PORT", said->ports,
                 "Port in the sandbox, or SANDBOX_PORT:LOCAL_PORT")
    ->required();
  auto session = add_session_options(*cmd);
  call.on(cmd, [said, session] {
    auto done = forward(*said, *session);
    return done ? *done : print_error(done.error());
  });
}

} // namespace troupe
