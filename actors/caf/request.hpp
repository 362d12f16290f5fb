#pragma once

#include "actors/caf/request_router.hpp"
#include "actors/protocol/wire.hpp"
#include "runtime/engine/engine.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace troupe {

/// A router completion that turns the answering message into a `result`.
template <class Answer, class Done>
class pending_request final : public request_router::pending {
public:
  explicit pending_request(Done done) : done_{std::move(done)} {}

  void finish(caf::expected<caf::message> answer) override {
    // Foreign code runs on an actor's thread: it must not end it.
    try {
      if (!answer)
        done_(result<Answer>{from_caf(answer.error())});
      else if (answer->template match_elements<Answer>())
        done_(result<Answer>{
          std::move(answer->template get_mutable_as<Answer>(0))});
      else if (answer->template match_elements<caf::error>())
        done_(result<Answer>{from_caf(answer->template get_as<caf::error>(0))});
      else
        done_(result<Answer>{error{
          ec::internal, "an actor answered with something else", {}, {}}});
    } catch (...) {
      // What it wanted to report went to the owner of the handler.
    }
  }

private:
  Done done_;
};

/// How a request goes to its actor.
struct request_options {
  using time_point = std::chrono::steady_clock::time_point;

  request_options(std::uint64_t route_,
                  caf::message_priority priority_
                  = caf::message_priority::normal,
                  time_point until_ = time_point::max())
      : route{route_}, priority{priority_}, until{until_} {}
  std::uint64_t route; // whose death ends it
  caf::message_priority priority;
  time_point until; // when there will be no answer any more
};

/// Sends a request and calls `done` with a `result<Answer>`, exactly once.
template <class Answer, class Handle, class Done, class... Ts>
void ask(request_router& router, const request_options& by, const Handle& to,
         Done done, Ts&&... xs) {
  if (!to)
    return done(result<Answer>{error{ec::unavailable,
                                     "this part of the engine is restarting",
                                     {},
                                     std::chrono::milliseconds{1'000}}});
  auto pending
    = std::make_shared<pending_request<Answer, Done>>(std::move(done));
  pending->route = by.route;
  pending->until = by.until;
  router.send(std::move(pending), by.priority, to, std::forward<Ts>(xs)...);
}

} // namespace troupe
