#include "tests/support/http/scripted_server.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cctype>
#include <charconv>

namespace troupe::test {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

class plain_peer final : public peer {
public:
  explicit plain_peer(tcp::socket& s) : socket_{s} {}
  bool write(std::string_view bytes) override {
    boost::system::error_code why;
    asio::write(socket_, asio::buffer(bytes), why);
    return !why;
  }
  void reset() override {
    // Sends RST as a close without lingering would, but leaves the descriptor
    // to the server, whose destructor may be about to shut it down.
    sockaddr nowhere{};
    nowhere.sa_family = AF_UNSPEC;
    ::connect(socket_.native_handle(), &nowhere, sizeof nowhere);
  }

  int socket() override { return socket_.native_handle(); }

protected:
  std::size_t read_some(char* into, std::size_t size) override {
    boost::system::error_code why;
    return socket_.read_some(asio::buffer(into, size), why);
  }

private:
  tcp::socket& socket_;
};

class tls_peer final : public peer {
public:
  tls_peer(tcp::socket& s, asio::ssl::context& c) : socket_{s}, stream_{s, c} {}
  bool shake_hands() {
    boost::system::error_code why;
    stream_.handshake(asio::ssl::stream_base::server, why);
    return !why;
  }
  bool write(std::string_view bytes) override {
    boost::system::error_code why;
    asio::write(stream_, asio::buffer(bytes), why);
    return !why;
  }
  void reset() override { plain_peer{socket_}.reset(); }

  int socket() override { return socket_.native_handle(); }

protected:
  std::size_t read_some(char* into, std::size_t size) override {
    boost::system::error_code why;
    return stream_.read_some(asio::buffer(into, size), why);
  }

private:
  tcp::socket& socket_;
  asio::ssl::stream<tcp::socket&> stream_;
};

std::size_t body_length(std::string_view head) {
  constexpr std::string_view name = "\r\ncontent-length: ";
  auto at = head.find(name);
  if (at == head.npos)
    return 0;
  std::size_t length = 0;
  auto from = head.data() + at + name.size();
  std::from_chars(from, head.data() + head.size(), length);
  return length;
}

} // namespace

std::shared_ptr<asio::ssl::context>
make_server_context(const std::string& certificate_pem,
                    const std::string& key_pem) {
  auto made
    = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  made->use_certificate_chain(asio::buffer(certificate_pem));
  made->use_private_key(asio::buffer(key_pem), asio::ssl::context::pem);
  return made;
}

bool peer::fill() {
  char piece[4096];
  auto n = read_some(piece, sizeof piece);
  buffer_.append(piece, n);
  return n > 0;
}

std::string peer::read_request() {
  std::size_t end;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!fill())
      return {};
  end += 4;
  auto head = buffer_.substr(0, end);
  for (auto& c : head) // names are as each client writes them
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (head.find("\r\ntransfer-encoding: chunked") != std::string::npos) {
    std::size_t last;
    while ((last = buffer_.find("0\r\n\r\n", end)) == std::string::npos)
      if (!fill())
        return {};
    end = last + 5;
  } else {
    end += body_length(head);
    while (buffer_.size() < end)
      if (!fill())
        return {};
  }
  auto request = buffer_.substr(0, end);
  buffer_.erase(0, end);
  return request;
}

scripted_server::scripted_server(script s, std::string certificate_pem,
                                 std::string key_pem)
    : scripted_server{std::move(s),
                      certificate_pem.empty()
                        ? nullptr
                        : make_server_context(certificate_pem, key_pem)} {}

scripted_server::scripted_server(script s,
                                 std::shared_ptr<asio::ssl::context> tls)
    : acceptor_{context_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}},
      port_{acceptor_.local_endpoint().port()}, script_{std::move(s)},
      tls_{std::move(tls)} {
  accepting_ = std::thread{[this] {
    for (;;) {
      auto socket = std::make_shared<tcp::socket>(context_);
      boost::system::error_code why;
      acceptor_.accept(*socket, why);
      if (why)
        return;
      std::lock_guard guard{mutex_};
      sockets_.push_back(socket);
      workers_.emplace_back(
        [this, socket, n = connections_++] { serve(socket, n); });
    }
  }};
}

scripted_server::~scripted_server() {
  // Wakes accept() as well, which close() does not.
  ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
  accepting_.join();
  {
    std::lock_guard guard{mutex_};
    for (auto& s : sockets_)
      ::shutdown(s->native_handle(), SHUT_RDWR);
  }
  for (auto& w : workers_)
    w.join();
}

void scripted_server::show(std::shared_ptr<asio::ssl::context> tls,
                           handshake how) {
  std::lock_guard guard{mutex_};
  tls_ = std::move(tls);
  manner_ = how;
  for (auto& s : sockets_)
    ::shutdown(s->native_handle(), SHUT_RDWR);
}

void scripted_server::serve(std::shared_ptr<tcp::socket> socket, int n) {
  std::shared_ptr<asio::ssl::context> tls;
  auto manner = handshake::whole;
  {
    std::lock_guard guard{mutex_};
    tls = tls_;
    manner = manner_;
  }
  if (!tls) {
    plain_peer p{*socket};
    script_(p, n);
  } else if (manner != handshake::whole) {
    char hello[16]; // the beginning of the client's: it is under way
    boost::system::error_code gone;
    do
      socket->read_some(asio::buffer(hello), gone);
    while (manner == handshake::stalled && !gone);
  } else {
    tls_peer p{*socket, *tls};
    if (p.shake_hands())
      script_(p, n);
  }
  ::shutdown(socket->native_handle(), SHUT_RDWR);
}

certificate make_certificate(const std::string& name, int valid_days) {
  auto* key = EVP_EC_gen("P-256");
  auto* x = X509_new();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -86'400L * (valid_days < 0 ? 10 : 1));
  X509_gmtime_adj(X509_getm_notAfter(x), 86'400L * valid_days);
  X509_set_pubkey(x, key);
  auto* subject = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(
    subject, "CN", MBSTRING_UTF8,
    reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x, subject);
  auto kind
    = name.find_first_not_of("0123456789.") == name.npos ? "IP:" : "DNS:";
  auto* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name,
                                    (kind + name).c_str());
  X509_add_ext(x, names, -1);
  X509_sign(x, key, EVP_sha256());
  certificate out;
  auto text = [](auto write) {
    auto* bio = BIO_new(BIO_s_mem());
    write(bio);
    char* data = nullptr;
    auto size = BIO_get_mem_data(bio, &data);
    std::string s(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    return s;
  };
  out.pem = text([&](BIO* b) { PEM_write_bio_X509(b, x); });
  out.key_pem = text([&](BIO* b) {
    PEM_write_bio_PrivateKey(b, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_EXTENSION_free(names);
  X509_free(x);
  EVP_PKEY_free(key);
  return out;
}

} // namespace troupe::test
