#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace troupe::test {

/// Runs `io` until that work is done; not for what idles in a pool.
template <class T>
T await_here(boost::asio::io_context& io, boost::asio::awaitable<T> work) {
  std::optional<T> out;
  auto keep
    = [&](boost::asio::awaitable<T> it) -> boost::asio::awaitable<void> {
    out.emplace(co_await std::move(it));
  };
  boost::asio::co_spawn(io, keep(std::move(work)),
                        [&](std::exception_ptr) { io.stop(); });
  io.restart();
  io.run();
  return std::move(*out);
}

} // namespace troupe::test
