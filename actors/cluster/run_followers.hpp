#pragma once

#include "actors/protocol/followed_output.hpp"
#include "actors/state/active_run.hpp"

#include <caf/all.hpp>

#include <functional>
#include <memory>
#include <unordered_map>

namespace troupe {

/// The questions of other nodes about runs that go on here: each waits for the
/// next output of its run. The gateway's own; a run has one such question, a
/// newer one takes its place.
class run_followers {
public:
  using promise = caf::typed_response_promise<run_status_message>;
  /// Called on any thread when a run that is waited for has news.
  using news = std::function<void(const run_id&)>;

  /// The reply, if there is something already; else `later` makes the promise
  /// that `answer` keeps after `tell`.
  std::optional<run_status_message>
  follow(const active_run_ptr& run, std::uint64_t after, news tell,
         const std::function<promise()>& later);
  /// The run has news: replies.
  void answer(const run_id& id);
  std::size_t size() const { return waiting_.size(); }

private:
  void forget(const run_id& id);

  /// What was collected so far, by the thread on which it happened.
  struct collected;
  struct question {
    active_run_ptr run;
    std::shared_ptr<collected> what;
    std::uint64_t subscription = 0;
    promise reply;
  };

  std::unordered_map<run_id, question> waiting_;
};

} // namespace troupe
