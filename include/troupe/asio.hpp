#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <troupe/engine.hpp>

#include <memory>
#include <string>
#include <utility>

namespace troupe::api {

/// Submits a message and completes `token` with a `reply`, on the token's
/// executor, else on `executor`. Cancelling the operation cancels the run; its
/// reply still comes.
///
///   auto reply = co_await async_submit(engine, executor, std::move(m),
///                                      boost::asio::use_awaitable);
///
/// The engine outlives the operation. (GCC 12: name the message first, do not
/// build it inside of the co_await expression.)
template <class Token>
auto async_submit(engine& to, boost::asio::any_io_executor executor, message m,
                  Token&& token) {
  namespace asio = boost::asio;
  auto begin = [&to, executor](auto handler, message what) {
    using handler_type = decltype(handler);
    auto kept = std::make_shared<handler_type>(std::move(handler));
    auto where = asio::get_associated_executor(*kept, executor);
    auto slot = asio::get_associated_cancellation_slot(*kept);
    auto organization = what.organization;
    auto finish = [kept, work = asio::make_work_guard(where)](reply r) mutable {
      auto complete = [kept, r = std::move(r)]() mutable {
        asio::get_associated_cancellation_slot(*kept).clear();
        auto h = std::move(*kept);
        kept.reset();
        std::move(h)(std::move(r));
      };
      asio::post(work.get_executor(), std::move(complete));
      work.reset();
    };
    auto shared = std::make_shared<decltype(finish)>(std::move(finish));
    auto id = to.submit(std::move(what),
                        [shared](reply r) { (*shared)(std::move(r)); });
    if (slot.is_connected())
      slot.assign([&to, id, organization](asio::cancellation_type) {
        to.cancel(id, organization);
      });
  };
  return asio::async_initiate<Token, void(reply)>(std::move(begin), token,
                                                  std::move(m));
}

} // namespace troupe::api
