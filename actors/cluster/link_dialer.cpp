#include "actors/cluster/link_dialer.hpp"

#include "actors/cluster/link_tls.hpp"
#include "actors/cluster/tls_link.hpp"
#include "runtime/async/watchdog.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <future>
#include <thread>

namespace troupe {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

class tls_dialed_link final : public outbound_link {
public:
  tls_dialed_link(std::shared_ptr<asio::ssl::context> tls,
                  std::chrono::milliseconds silence)
      : tls_{std::move(tls)}, silence_{silence}, thread_{
                                                   [this] { io_.run(); }} {}

  ~tls_dialed_link() override {
    watched_.stop();
    asio::post(io_, [this] {
      boost::system::error_code ignored;
      socket_.close(ignored);
      if (link_)
        link_->close();
    });
    busy_.reset();
    thread_.join();
  }

  int take_caf_socket() override { return end_; }
  std::string why_cut() const override { return link_->why_cut(); }

  void be_watched(watchdog& by, std::string name) {
    watched_ = by.turns(std::move(name), io_.get_executor());
  }

  result<void> dial(const std::string& host, std::uint16_t port,
                    std::chrono::milliseconds patience) {
    std::promise<result<int>> told;
    auto answer = told.get_future();
    auto work = meet(host, port, patience);
    asio::co_spawn(
      io_, std::move(work), [&told](std::exception_ptr e, result<int> met) {
        if (e)
          met = error{ec::internal, "an exception while dialing", {}, {}};
        told.set_value(std::move(met));
      });
    auto end = answer.get();
    if (!end)
      return end.error();
    end_ = *end;
    auto relay = link_->relay();
    asio::co_spawn(io_, std::move(relay), asio::detached);
    return {};
  }

private:
  asio::awaitable<result<int>> meet(std::string host, std::uint16_t port,
                                    std::chrono::milliseconds patience) {
    asio::steady_timer deadline{io_, patience};
    deadline.async_wait([this](boost::system::error_code e) {
      boost::system::error_code ignored;
      if (!e)
        socket_.close(ignored);
    });
    boost::system::error_code failed;
    auto token = asio::redirect_error(asio::use_awaitable, failed);
    tcp::resolver names{io_};
    auto service = std::to_string(port);
    auto found = co_await names.async_resolve(host, service, token);
    if (!failed)
      co_await asio::async_connect(socket_, found, token);
    deadline.cancel();
    if (failed)
      co_return error{ec::unavailable, failed.message(), {}, {}};
    link_ = std::make_shared<tls_link>(std::move(socket_), tls_,
                                       largest_answer_frame, silence_);
    auto met = co_await link_->handshake_as_client(host);
    if (!met)
      co_return met.error();
    co_return link_->take_caf_socket();
  }

  const std::shared_ptr<asio::ssl::context> tls_;
  const std::chrono::milliseconds silence_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy_{
    io_.get_executor()};
  tcp::socket socket_{io_};
  std::shared_ptr<tls_link> link_; // on the thread, once it is met
  int end_ = -1;
  watchdog::watched watched_;
  std::thread thread_; // last: it uses the others
};

} // namespace

result<std::unique_ptr<outbound_link>>
outbound_link::open(const std::string& host, std::uint16_t port,
                    const link_identity& who,
                    std::chrono::milliseconds patience, watchdog* watch,
                    std::chrono::milliseconds silence) {
  auto tls = make_link_context(who, link_side::dials);
  if (!tls)
    return tls.error();
  auto made = std::make_unique<tls_dialed_link>(std::move(*tls), silence);
  if (auto met = made->dial(host, port, patience); !met)
    return std::move(met).error().within("connect to " + host + ":"
                                         + std::to_string(port));
  if (watch)
    made->be_watched(*watch, "link to " + host);
  return std::unique_ptr<outbound_link>{std::move(made)};
}

} // namespace troupe
