#pragma once

#include "runtime/base/error.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace troupe {

template <class T>
using place_work = std::function<boost::asio::awaitable<T>()>;
template <class T>
using place_answer = std::function<void(std::optional<T>)>;

/// Parameters live in the coroutine's frame; captures would not. An exception
/// stays here: nothing came of the call then.
template <class T>
boost::asio::awaitable<void> run_at_place(place_work<T> work,
                                          place_answer<T> done) {
  std::optional<T> came;
  try {
    came.emplace(co_await work());
  } catch (const std::exception&) {
    // A place must not throw; the caller learns that nothing came.
  }
  done(std::move(came));
}

/// Does `work`, a coroutine of a place, on the place's thread. `done` gets what
/// came of it there, nothing when the place threw.
template <class T>
void call_place(const boost::asio::any_io_executor& executor,
                place_work<T> work, place_answer<T> done) {
  boost::asio::co_spawn(executor,
                        run_at_place<T>(std::move(work), std::move(done)),
                        boost::asio::detached);
}

inline error place_threw() {
  return fail(ec::internal, "the place of this sandbox failed without a word");
}

} // namespace troupe
