// Our end of TLS with servers that do what they may, and what they may not.
#include "net/client/client_tls.hpp"
#include "net/client/tls_session.hpp"
#include "tests/support/await_here.hpp"
#include "tests/support/http/scripted_server.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/http/tls_faces.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <functional>
#include <thread>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using boost::system::error_code;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

/// One connection of a server that can do all that OpenSSL can, and sends its
/// bytes in pieces of any size.
class odd_server {
public:
  using script = std::function<void(odd_server&)>;

  odd_server(const test::tls_faces& faces, script what)
      : context_{faces.context(test::tls_face::right)},
        ssl_{SSL_new(context_->native_handle()), SSL_free} {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
    worker_ = std::thread{[this, what = std::move(what)] {
      error_code why;
      acceptor_.accept(socket_, why);
      socket_.set_option(tcp::no_delay{true}, why);
      what(*this);
      socket_.shutdown(tcp::socket::shutdown_both, why);
    }};
  }
  ~odd_server() { worker_.join(); }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  SSL* native() { return ssl_.get(); }
  std::size_t piece = 64u << 10; // of what is sent at a time

  bool shake_hands() {
    return step([this] { return SSL_do_handshake(ssl_.get()); });
  }
  bool write(std::string_view text) { return put(text) && flush(); }
  /// Kept back until something is sent.
  bool put(std::string_view text) {
    return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()))
      == static_cast<int>(text.size());
  }
  std::string read() {
    std::string into(16u << 10, '\0');
    std::size_t n = 0;
    step([&] { return SSL_read_ex(ssl_.get(), into.data(), into.size(), &n); });
    into.resize(n);
    return into;
  }
  /// Until the other side leaves: who hangs up on unread bytes, takes back
  /// what it said.
  void echo(const std::function<void()>& before_each) {
    for (;;) {
      before_each();
      auto text = read();
      if (text.empty() || !write(text))
        return;
    }
  }
  bool flush() {
    char* bytes = nullptr;
    auto size = static_cast<std::size_t>(
      BIO_get_mem_data(SSL_get_wbio(ssl_.get()), &bytes));
    error_code why;
    for (std::size_t at = 0; at < size && !why; at += piece)
      asio::write(socket_, asio::buffer(bytes + at, std::min(piece, size - at)),
                  why);
    (void)BIO_reset(SSL_get_wbio(ssl_.get()));
    return !why;
  }

private:
  bool step(const std::function<int()>& what) {
    for (;;) {
      auto done = what();
      auto more = SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ;
      if (!flush() || done == 1 || !more)
        return done == 1;
      char bytes[4'096];
      error_code why;
      auto n = socket_.read_some(asio::buffer(bytes), why);
      if (why)
        return false;
      BIO_write(SSL_get_rbio(ssl_.get()), bytes, static_cast<int>(n));
    }
  }

  asio::io_context io_;
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  tcp::socket socket_{io_};
  std::shared_ptr<asio::ssl::context> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  std::thread worker_;
};

struct our_end {
  test::tls_faces faces;
  asio::io_context io{1};
  std::shared_ptr<asio::ssl::context> context
    = make_client_tls(faces.authority()).value();
  boost::beast::tcp_stream plain{io};
  std::optional<tls_session> tls;

  error_code connect(const odd_server& server) {
    plain.socket().connect({asio::ip::address_v4::loopback(), server.port()});
    plain.expires_after(30s);
    tls.emplace(plain, *context);
    return test::await_here(io, tls->shake_hands());
  }
  asio::awaitable<std::string> read_all(std::size_t enough, error_code& why) {
    std::string all, piece(10'000, '\0');
    while (all.size() < enough && !why) {
      auto n = co_await tls->read(asio::buffer(piece), why);
      all += std::string_view{piece}.substr(0, n);
    }
    co_return all;
  }
  std::string read(std::size_t enough, error_code& why) {
    return test::await_here(io, read_all(enough, why));
  }
  error_code write(std::string_view text) {
    std::array all{asio::const_buffer{text.data(), text.size()}};
    return test::await_here(io, tls->write(all));
  }
  /// Written and read back at the same time.
  void check_echo(const std::string& text) {
    std::array all{asio::const_buffer{text.data(), text.size()}};
    std::optional<error_code> sent;
    auto write_beside
      = [&]() -> asio::awaitable<void> { sent = co_await tls->write(all); };
    asio::co_spawn(io, write_beside, asio::detached);
    error_code why;
    BOOST_TEST((read(text.size(), why) == text));
    BOOST_TEST(!why, why.message());
    io.restart();
    while (!sent && io.run_one() > 0) {
    }
    BOOST_TEST((sent && !*sent));
    plain.close();
  }
};

/// No byte like the one before it.
std::string much_of(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<char>((i * 31 + i / 251) & 0xff);
  return out;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(tls_sessions, our_end)

BOOST_AUTO_TEST_CASE(take_records_byte_by_byte) {
  odd_server server{faces, [](odd_server& s) {
                      s.piece = 1;
                      if (s.shake_hands() && s.read() == "a question")
                        s.write("an answer");
                      s.read();
                    }};
  BOOST_TEST(!connect(server));
  BOOST_TEST(!write("a question"));
  error_code why;
  BOOST_TEST(read(9, why) == "an answer");
  BOOST_TEST(!why);
  plain.close();
}

// A writer that waits for its bytes, and a reader beside it.
BOOST_AUTO_TEST_CASE(carry_much_both_ways_at_once) {
  const auto much = much_of(5u << 20);
  odd_server server{faces, [&](odd_server& s) {
                      s.piece = 7'001;
                      if (!s.shake_hands())
                        return;
                      s.echo([] {});
                    }};
  BOOST_TEST(!connect(server));
  check_echo(much);
}

// The reader then has something to say, in the middle of what is written.
BOOST_AUTO_TEST_CASE(go_on_when_keys_are_changed) {
  const auto much = much_of(1u << 20);
  odd_server server{
    faces, [&](odd_server& s) {
      if (!s.shake_hands())
        return;
      s.echo([&s] { SSL_key_update(s.native(), SSL_KEY_UPDATE_REQUESTED); });
    }};
  BOOST_TEST(!connect(server));
  check_echo(much);
}

BOOST_AUTO_TEST_CASE(tell_an_end_from_a_cut) {
  for (auto says_so : {true, false}) {
    odd_server server{faces, [says_so](odd_server& s) {
                        if (!s.shake_hands() || !s.write("half"))
                          return;
                        if (says_so)
                          SSL_shutdown(s.native());
                        s.flush();
                      }};
    BOOST_TEST(!connect(server));
    error_code why;
    BOOST_TEST(read(8, why) == "half");
    if (says_so)
      BOOST_TEST((why == asio::error::eof));
    else
      BOOST_TEST((why == asio::ssl::error::stream_truncated));
    plain.close();
  }
}

BOOST_AUTO_TEST_CASE(see_what_nobody_asked_for) {
  odd_server server{faces, [](odd_server& s) {
                      if (s.shake_hands() && s.put("asked for")
                          && s.write("and more")) // in one piece
                        s.read();
                    }};
  BOOST_TEST(!connect(server));
  error_code why;
  BOOST_TEST(read(9, why) == "asked for");
  BOOST_TEST(tls->has_unread());
  BOOST_TEST(read(8, why) == "and more");
  BOOST_TEST(!tls->has_unread());
  plain.close();
}

BOOST_AUTO_TEST_CASE(shake_hands_once) {
  SSL_CTX_set_max_proto_version(context->native_handle(), TLS1_2_VERSION);
  odd_server server{faces, [](odd_server& s) {
                      if (!s.shake_hands())
                        return;
                      SSL_renegotiate(s.native());
                      s.shake_hands();
                    }};
  BOOST_TEST(!connect(server));
  error_code why;
  BOOST_TEST(read(1, why).empty());
  BOOST_TEST((why && why != asio::error::eof));
}

BOOST_AUTO_TEST_CASE(refuse_what_is_no_record) {
  odd_server server{faces, [](odd_server& s) {
                      if (s.shake_hands())
                        BIO_puts(SSL_get_wbio(s.native()),
                                 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
                      s.flush();
                    }};
  BOOST_TEST(!connect(server));
  error_code why;
  BOOST_TEST(read(1, why).empty());
  BOOST_TEST((why.category() == asio::error::get_ssl_category()));
}

BOOST_AUTO_TEST_SUITE_END()
