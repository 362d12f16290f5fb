#include "brokered_tool.hpp"
#include "runtime/local/egress/dns_proxy.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(name_resolver)

namespace {

constexpr std::chrono::seconds long_enough{10};
constexpr std::chrono::milliseconds short_while{300};

std::string query(std::string_view name, char id = 7) {
  std::string packet{0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  while (!name.empty()) {
    auto label = name.substr(0, name.find('.'));
    packet += static_cast<char>(label.size());
    packet += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return packet + std::string{"\0\0\1\0\1", 5};
}

/// A resolver on a context that runs in the test's own thread, and a client.
struct house {
  explicit house(broker_options o, network_policy policy = {})
      : options{std::move(o)} {
    names = *resolver::open(io.get_executor(), options);
    decisions = std::make_shared<judge>(policy, options);
    names->serve(decisions);
    client.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(0x7f000035);
    to.sin_port = htons(names->port());
    BOOST_REQUIRE(
      ::connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof to)
      == 0);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ::getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &size);
    port = ntohs(own.sin_port);
  }
  ~house() { names->close(); }

  void send(const std::string& packet) {
    BOOST_REQUIRE(::send(client.get(), packet.data(), packet.size(), 0)
                  == static_cast<ssize_t>(packet.size()));
  }
  /// Serves until `done`, which comes soon or never.
  template <class Done>
  void serve_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (!done()) {
      BOOST_REQUIRE((std::chrono::steady_clock::now() < end));
      io.run_one_for(std::chrono::milliseconds{10});
    }
  }
  /// "" when nothing has come before `patience` is over.
  std::string receive(std::chrono::milliseconds patience) {
    char bytes[8192];
    auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      io.run_one_for(std::chrono::milliseconds{10});
      auto n = ::recv(client.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (n > 0)
        return {bytes, static_cast<std::size_t>(n)};
    }
    return {};
  }

  broker_options options;
  boost::asio::io_context io{1};
  std::shared_ptr<resolver> names;
  std::shared_ptr<judge> decisions;
  unique_fd client;
  std::uint16_t port = 0;
};

} // namespace

BOOST_AUTO_TEST_CASE(passes_answers_on_and_tells_the_judge) {
  nameserver upstream;
  house h{pretend_public(upstream), list({"*.good.test"})};
  h.names->admit(h.port);
  h.send(query("127-0-0-9.good.test"));
  auto packet = h.receive(long_enough);
  auto asked = parse_dns_query(query("127-0-0-9.good.test"));
  auto answer = parse_dns_answer(packet, *asked); // our id, our question
  BOOST_REQUIRE(answer.has_value());
  BOOST_REQUIRE(answer->addresses.size() == 1u);
  BOOST_TEST(to_string(answer->addresses[0]) == "127.0.0.9");
  BOOST_TEST(h.decisions->address(answer->addresses[0], 80, judge::clock::now())
               .allowed);
}

BOOST_AUTO_TEST_CASE(asks_nobody_about_names_off_the_list) {
  nameserver upstream;
  house h{pretend_public(upstream), list({"*.good.test"})};
  h.names->admit(h.port);
  h.send(query("stolen-secret.evil.test"));
  auto asked = parse_dns_query(query("stolen-secret.evil.test"));
  auto answer = parse_dns_answer(h.receive(long_enough), *asked);
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST((answer->code == dns_code::no_such_name));
  BOOST_TEST(upstream.contacts() == 0);
}

BOOST_AUTO_TEST_CASE(answers_only_ports_that_it_knows) {
  nameserver upstream;
  house h{pretend_public(upstream)};
  h.send(query("127-0-0-9.x.test"));
  BOOST_TEST(h.receive(short_while).empty());
  BOOST_TEST(upstream.contacts() == 0);
  h.names->admit(h.port); // the twin
  h.send(query("127-0-0-9.x.test"));
  BOOST_TEST(!h.receive(long_enough).empty());
  h.names->serve(h.decisions); // the next run knows no ports
  h.send(query("127-0-0-9.x.test"));
  BOOST_TEST(h.receive(short_while).empty());
}

BOOST_AUTO_TEST_CASE(goes_to_the_next_nameserver_and_gives_up_in_time) {
  nameserver upstream;
  auto o = pretend_public(upstream);
  o.lookup_timeout = std::chrono::milliseconds{600};
  // Nobody listens at the first: the port is the same, the address is not.
  o.nameservers = {*parse_address("::1"), *parse_address("127.0.0.1")};
  house h{o};
  h.names->admit(h.port);
  h.send(query("127-0-0-9.x.test"));
  BOOST_TEST(!h.receive(long_enough).empty());

  unique_fd silent{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_in own{};
  own.sin_family = AF_INET;
  socklen_t size = sizeof own;
  ::bind(silent.get(), reinterpret_cast<sockaddr*>(&own), size);
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&own), &size);
  o.nameservers = {*parse_address("127.0.0.1")};
  o.nameserver_port = ntohs(own.sin_port);
  house late{o};
  late.names->admit(late.port);
  late.send(query("a.x.test"));
  auto asked = parse_dns_query(query("a.x.test"));
  auto answer = parse_dns_answer(late.receive(long_enough), *asked);
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST((answer->code == dns_code::server_failure));
}

BOOST_AUTO_TEST_CASE(waits_for_the_real_answer_behind_a_forged_one) {
  unique_fd server{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  ::bind(server.get(), reinterpret_cast<sockaddr*>(&own), size);
  ::getsockname(server.get(), reinterpret_cast<sockaddr*>(&own), &size);
  broker_options o;
  o.nameservers = {*parse_address("127.0.0.1")};
  o.nameserver_port = ntohs(own.sin_port);
  house h{o};
  h.names->admit(h.port);
  h.send(query("a.x.test"));
  char bytes[512];
  sockaddr_in from{};
  ssize_t n = -1;
  h.serve_until([&] { // it forwards the question
    size = sizeof from;
    n = ::recvfrom(server.get(), bytes, sizeof bytes, MSG_DONTWAIT,
                   reinterpret_cast<sockaddr*>(&from), &size);
    return n >= 0;
  });
  std::string asked_packet{bytes, static_cast<std::size_t>(n)};
  auto real = refuse_dns_query(asked_packet, *parse_dns_query(asked_packet),
                               dns_code::no_such_name);
  auto forged = real;
  forged[1] = static_cast<char>(forged[1] + 1); // another id
  for (auto& packet : {std::string{"junk"}, forged, real})
    ::sendto(server.get(), packet.data(), packet.size(), 0,
             reinterpret_cast<sockaddr*>(&from), size);
  auto answer = parse_dns_answer(h.receive(long_enough),
                                 *parse_dns_query(query("a.x.test")));
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST((answer->code == dns_code::no_such_name));
}

/// A nameserver that the test plays itself, on one port of UDP and TCP.
struct upstream {
  upstream() {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&own);
    socklen_t size = sizeof own;
    // What is free for one of them may be taken for the other.
    bool both = false;
    for (int tries = 0; tries < 100 && !both; ++tries) {
      own.sin_port = 0;
      datagrams.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      BOOST_REQUIRE(::bind(datagrams.get(), address, size) == 0);
      ::getsockname(datagrams.get(), address, &size);
      both = ::bind(streams.get(), address, size) == 0;
    }
    BOOST_REQUIRE(both);
    options.nameservers = {*parse_address("127.0.0.1")};
    options.nameserver_port = ntohs(own.sin_port);
  }

  /// The question that `h` passes on, answered with "there is more".
  std::string cut_short(house& h) {
    char bytes[512];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    auto* address = reinterpret_cast<sockaddr*>(&from);
    ssize_t n = -1;
    h.serve_until([&] {
      n = ::recvfrom(datagrams.get(), bytes, sizeof bytes, MSG_DONTWAIT,
                     address, &size);
      return n >= 0;
    });
    std::string asked{bytes, static_cast<std::size_t>(n)};
    auto cut
      = refuse_dns_query(asked, *parse_dns_query(asked), dns_code::no_error);
    cut[2] = static_cast<char>(cut[2] | 2);
    ::sendto(datagrams.get(), cut.data(), cut.size(), 0, address, size);
    return asked;
  }

  unique_fd datagrams;
  unique_fd streams{
    ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  broker_options options;
};

BOOST_AUTO_TEST_CASE(fetches_long_answers_whole) {
  upstream far;
  BOOST_REQUIRE(::listen(far.streams.get(), 1) == 0);
  house h{far.options};
  h.names->admit(h.port);
  h.send(query("many.x.test"));
  const auto asked = far.cut_short(h);
  BOOST_TEST(without_room(asked).size() + 11 == asked.size());
  unique_fd stream;
  std::string again;
  h.serve_until([&] {
    if (!stream)
      stream.reset(::accept4(far.streams.get(), nullptr, nullptr,
                             SOCK_CLOEXEC | SOCK_NONBLOCK));
    char bytes[512];
    const auto n = ::read(stream.get(), bytes, sizeof bytes);
    if (n > 0)
      again.append(bytes, static_cast<std::size_t>(n));
    return again.size() >= 2 + asked.size();
  });
  BOOST_TEST(again.substr(2) == asked);
  constexpr unsigned char addresses = 200;
  auto all
    = refuse_dns_query(asked, *parse_dns_query(asked), dns_code::no_error);
  all[7] = static_cast<char>(addresses);
  for (unsigned char i = 0; i < addresses; ++i)
    all += std::string{"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x8\x8\x8", 15}
      + static_cast<char>(i);
  const std::string length{static_cast<char>(all.size() >> 8),
                           static_cast<char>(all.size() & 0xff)};
  BOOST_REQUIRE(::write(stream.get(), (length + all).data(), all.size() + 2)
                == static_cast<ssize_t>(all.size() + 2));
  const auto packet = h.receive(long_enough);
  auto answer
    = parse_dns_answer(packet, *parse_dns_query(query("many.x.test")));
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(answer->addresses.size() == addresses);
  BOOST_TEST(!is_cut(packet));
}

BOOST_AUTO_TEST_CASE(makes_do_with_a_cut_answer_where_there_is_no_tcp) {
  upstream far; // which does not listen
  house h{far.options};
  h.names->admit(h.port);
  h.send(query("many.x.test"));
  far.cut_short(h);
  const auto packet = h.receive(long_enough);
  BOOST_TEST(parse_dns_answer(packet, *parse_dns_query(query("many.x.test")))
               .has_value());
  BOOST_TEST(!is_cut(packet)); // there is no TCP for the tool to ask by
}

BOOST_AUTO_TEST_CASE(bounds_the_questions_in_flight) {
  unique_fd silent{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_in own{};
  own.sin_family = AF_INET;
  socklen_t size = sizeof own;
  ::bind(silent.get(), reinterpret_cast<sockaddr*>(&own), size);
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&own), &size);
  broker_options o;
  o.nameservers = {*parse_address("127.0.0.1")};
  o.nameserver_port = ntohs(own.sin_port);
  o.lookups = 2;
  house h{o};
  h.names->admit(h.port);
  for (char id = 1; id <= 3; ++id)
    h.send(query("a.x.test", id));
  auto answer = parse_dns_answer(h.receive(long_enough),
                                 *parse_dns_query(query("a.x.test", 3)));
  BOOST_REQUIRE(answer.has_value()); // the third, at once
  BOOST_TEST((answer->code == dns_code::server_failure));
}

BOOST_AUTO_TEST_CASE(reads_the_hosts_file_as_the_c_library_does) {
  auto found = nameservers_in("# nameserver 9.9.9.9\n"
                              "search example.org\n"
                              "nameserver 10.0.0.53\n"
                              "nameserver\t2001:db8::53 # comment\n"
                              "nameserver nonsense\n"
                              "nameservers 1.1.1.1\n"
                              "nameserver 1.1.1.1\r\n"
                              "nameserver 8.8.8.8");
  BOOST_REQUIRE(found.size() == 3u);
  BOOST_TEST(to_string(found[0]) == "10.0.0.53");
  BOOST_TEST(to_string(found[1]) == "2001:db8::53");
  BOOST_TEST(to_string(found[2]) == "1.1.1.1");
  BOOST_TEST(nameservers_in("").empty());
}

BOOST_AUTO_TEST_SUITE_END()
