// H40. From the bytes of a socket to a handler and back: framing, routing,
// bodies, answers. A connection without a socket feeds them in, in pieces that
// the input decides; what comes out must be a sequence of whole answers.
#include "net/api/api.hpp"
#include "net/server/connection.hpp"
#include "net/server/health_routes.hpp"
#include "net/server/io_worker.hpp"
#include "tests/support/engine/fake_engine.hpp"

#include <cstdlib>
#include <cstring>

namespace {

using namespace troupe;
using namespace troupe::net;

/// Reads from memory; writing succeeds at once, in the next turn of the loop.
class memory_connection final : public connection {
public:
  memory_connection(std::shared_ptr<io_worker> home, traits t)
      : connection{std::move(home), std::move(t)} {}

  /// Gives `bytes` to a waiting read; false when none waits.
  bool feed(std::string_view& bytes, std::size_t most) {
    if (!waiting_.data() || closed_)
      return false;
    auto n = std::min({bytes.size(), waiting_.size(), most});
    std::memcpy(waiting_.data(), bytes.data(), n);
    waiting_ = {};
    bytes.remove_prefix(n);
    on_read({}, n);
    return true;
  }
  void end() {
    if (!waiting_.data() || closed_)
      return;
    waiting_ = {};
    on_read(boost::asio::error::eof, 0);
  }
  bool closed() const { return closed_; }
  const std::string& written() const { return written_; }

private:
  void read_some(boost::asio::mutable_buffer into) override { waiting_ = into; }
  void write_all(boost::asio::const_buffer from) override {
    written_.append(static_cast<const char*>(from.data()), from.size());
    auto self = std::static_pointer_cast<memory_connection>(shared_from_this());
    home().tasks().put([self, n = from.size()] { self->on_written({}, n); });
  }
  void shut_write() override {}
  void close() override { closed_ = true; }

  boost::asio::mutable_buffer waiting_;
  std::string written_;
  bool closed_ = false;
};

struct stage {
  stage() : shared{std::make_shared<server_state>(engine, server_options{})} {
    add_operators(shared->routes, engine, [] { return std::string{}; });
    add_api(shared->routes, engine);
    home = std::make_shared<io_worker>(shared);
    home->adopt_this_thread();
  }
  test::fake_engine engine;
  std::shared_ptr<server_state> shared;
  std::shared_ptr<io_worker> home;
};

/// An answer of ours never blames us, whatever the bytes were.
void check(const std::string& written) {
  for (auto at = written.find("HTTP/1.1 "); at != std::string::npos;
       at = written.find("\r\nHTTP/1.1 ", at + 1)) {
    auto line = at + (written[at] == '\r' ? 2 : 0);
    if (written.compare(line + 9, 3, "500") == 0)
      std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static stage s;
  if (size == 0)
    return 0;
  // The first byte says in how large pieces the rest arrives.
  std::size_t piece = data[0] == 0 ? size : data[0];
  std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  connection::traits traits;
  traits.loopback = true;
  traits.peer = boost::asio::ip::make_address("127.0.0.1");
  s.shared->connections.fetch_add(1);
  s.shared->addresses.enter(traits.peer, 0);
  auto c = std::make_shared<memory_connection>(s.home, traits);
  s.home->add_connection(*c);
  c->begin();
  while (!bytes.empty() && c->feed(bytes, piece))
    s.home->poll();
  c->end();
  s.home->poll();
  if (!c->closed())
    c->abort();
  check(c->written());
  return 0;
}
