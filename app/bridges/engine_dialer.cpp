#include "app/bridges/engine_dialer.hpp"

#include <array>

namespace troupe {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds time_to_connect{30};
constexpr std::size_t longest_answer = 16u << 10;

asio::awaitable<result<engine_dialer::upgraded>>
read_answer(net::client_connection& over) {
  std::string head;
  std::array<char, 4096> some{};
  while (head.find("\r\n\r\n") == head.npos && head.size() < longest_answer) {
    boost::system::error_code why;
    const auto n = co_await over.read(asio::buffer(some), why);
    if (why)
      co_return fail(ec::unavailable, "the engine answered: " + why.message());
    head.append(some.data(), n);
  }
  const auto end = head.find("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 101 ") || end == head.npos)
    co_return fail(ec::unavailable,
                   "the engine answered " + head.substr(0, head.find('\r')));
  co_return engine_dialer::upgraded{head.substr(0, end), head.substr(end + 4)};
}

} // namespace

result<engine_dialer_ptr> engine_dialer::find(const session_options& how) {
  auto engine = find_engine(how);
  if (!engine)
    return engine.error();
  if (!*engine)
    return fail(ec::unavailable,
                "no engine serves; start one with `troupe "
                "serve`, or name it with --server");
  engine_dialer_ptr made{new engine_dialer{std::move(**engine)}};
  const auto& o = made->engine_.client;
  auto tls = net::make_client_tls(
    o.ca_file, {o.only_certificate, o.certificate_file, o.key_file});
  if (!tls)
    return tls.error();
  made->tls_ = std::move(*tls);
  return made;
}

asio::awaitable<result<engine_dialer::upgraded>>
engine_dialer::upgrade(net::client_connection& over, std::string target,
                       std::string fields) {
  const auto& server = engine_.server;
  const auto deadline = std::chrono::steady_clock::now() + time_to_connect;
  net::address_rule any;
  auto places = co_await names_.resolve(server.host, server.port, deadline,
                                        std::move(any));
  if (!places)
    co_return places.error();
  auto open = co_await over.open(server, std::move(*places), *tls_, deadline);
  if (!open)
    co_return open.error();
  auto text = "GET " + server.prefix + target
    + " HTTP/1.1\r\nhost: " + server.authority() + "\r\n" + fields;
  if (!engine_.key.empty())
    text += "authorization: Bearer " + engine_.key.reveal() + "\r\n";
  text += "\r\n";
  const std::array<asio::const_buffer, 1> pieces{asio::buffer(text)};
  if (auto why = co_await over.write(pieces); why)
    co_return fail(ec::unavailable, "ask the engine: " + why.message());
  auto answer = co_await read_answer(over);
  if (answer)
    over.never_expires();
  co_return answer;
}

} // namespace troupe
