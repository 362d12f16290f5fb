// A port of this machine that leads into a sandbox: any protocol over TCP,
// through the engine's tunnels.
#include "app/bridges/engine_dialer.hpp"
#include "app/commands/sandbox_words.hpp"

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

constexpr std::size_t piece_size = 64u << 10;

struct forward_words {
  std::string id;
  std::string ports; // PORT or PORT:LOCAL
};

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

asio::awaitable<void> carry(tunnel_ptr t, engine_dialer_ptr to,
                            std::string target) {
  std::string fields{"connection: Upgrade\r\nupgrade: tcp\r\n"};
  auto open
    = co_await to->upgrade(t->engine, std::move(target), std::move(fields));
  if (!open) {
    std::cerr << "troupe: " << open.error().text << std::endl;
    co_return t->close();
  }
  auto executor = t->local.get_executor();
  asio::co_spawn(executor, pump_out(t), asio::detached);
  co_await pump_in(t, std::move(open->rest));
}

asio::awaitable<void> accept_all(std::shared_ptr<tcp::acceptor> from,
                                 engine_dialer_ptr to, std::string target) {
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
    asio::co_spawn(executor, carry(t, to, target), asio::detached);
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
  auto engine = engine_dialer::find(how);
  if (!engine)
    return engine.error();
  const auto target = sandbox_target(
    said.id, "/ports/" + std::to_string(ports->inside) + "/tunnel");
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
  asio::co_spawn(io, accept_all(acceptor, *engine, target), asio::detached);
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
