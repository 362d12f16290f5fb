#pragma once

#include "actors/caf/request.hpp"
#include "actors/context/engine_context.hpp"
#include "actors/sandbox/sandbox_services.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace troupe {

/// How a call of a front door becomes a message to the actor of a sandbox.
class sandbox_calls {
protected:
  sandbox_calls(context_ptr context, sandbox_services_ptr services)
      : context_{std::move(context)}, services_{std::move(services)} {}

  /// Turns the answer of an actor into the handler's result.
  template <class T>
  static auto answering(sandbox_handler<T> then) {
    return [then = std::move(then)](result<sandbox_answer<T>> came) {
      if (came)
        then(std::move(*came->what));
      else
        then(sandbox_error{std::move(came.error())});
    };
  }

  /// Of an answer only that it came.
  template <class T>
  static sandbox_handler<T> without_value(sandbox_handler<void> then) {
    return [then = std::move(then)](sandbox_result<T> came) {
      if (came)
        then({});
      else
        then(came.error());
    };
  }

  /// Of an answer that is shared a copy.
  template <class T>
  static sandbox_handler<std::shared_ptr<const T>>
  copying(sandbox_handler<T> then) {
    return
      [then = std::move(then)](sandbox_result<std::shared_ptr<const T>> came) {
        if (came)
          then(**came);
        else
          then(came.error());
      };
  }

  /// The caller's own sandbox; one of another organization is not there.
  sandbox_result<sandbox_index::entry> own(const caller& who,
                                           const sandbox_id& id) const {
    auto found = services_->index.find(id);
    // The same words for a foreign one: ids must not be guessed at.
    if (!found || found->record->organization != who.organization)
      return sandbox_error{
        fail(ec::not_found, "there is no sandbox " + id.str())};
    return std::move(*found);
  }

  /// A message to the actor of the caller's sandbox.
  template <class T, class... Ts>
  void tell(const caller& who, const sandbox_id& id,
            std::function<void(sandbox_result<T>)> then, Ts&&... message) {
    auto mine = own(who, id);
    if (!mine)
      return then(mine.error());
    ask<sandbox_answer<T>>(*context_->router, request_options{mine->route},
                           mine->actor, answering<T>(std::move(then)),
                           std::forward<Ts>(message)...);
  }

  const context_ptr context_;
  const sandbox_services_ptr services_;
};

} // namespace troupe
