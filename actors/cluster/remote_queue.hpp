#pragma once

#include "actors/protocol/messages.hpp"
#include "actors/state/fair_queue.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace troupe {

/// How many executions the gate has sent ahead that no dispatcher has looked at
/// yet, and whether others wait behind them. Shared with the dispatchers'
/// threads.
class flow_control {
public:
  /// Of them at a time: what comes after them can still be passed.
  static constexpr std::uint32_t most = 128;

  void on_forwarded() { ++ahead_; }
  /// True: it is the gate's turn again, tell it.
  bool arrived() { return --ahead_ <= most / 2 && call(); }
  bool has_room() const { return ahead_ < most; }
  /// An execution waits. True: the gateway's turn is now.
  bool request_turn() {
    auto nobody = step::none;
    turn_.compare_exchange_strong(nobody, step::wanted);
    return ahead_ <= most / 2 && call();
  }
  /// The turn has come.
  void turn_started() { turn_ = step::none; }

private:
  enum class step : std::uint8_t { none, wanted, called };
  bool call() {
    auto waiting = step::wanted;
    return turn_.compare_exchange_strong(waiting, step::called);
  }

  std::atomic<std::uint32_t> ahead_{0};
  std::atomic<step> turn_{step::none};
};

/// Executions that wait at the gate, organizations in turn: one that sends
/// thousands delays the others by one of them.
class remote_queue {
public:
  /// Exactly one of both is to be answered.
  struct pending_execution {
    execution what;
    caf::typed_response_promise<run_answer> answer;
    caf::typed_response_promise<run_status_message> accepted;
  };

  void push(pending_execution v) {
    const auto& request = *v.what.request;
    auto id = request.id.str();
    auto organization = v.what.who.organization;
    const auto place
      = waiting_.push(organization, request.priority, 1, std::move(v));
    if (!id.empty())
      places_.try_emplace(std::move(id), place);
  }
  std::optional<pending_execution> pop() {
    auto v = waiting_.pop([](const organization_id&) { return true; });
    if (v)
      places_.erase(v->what.request->id.str());
    return v;
  }
  /// One of many: its caller asks for it, or wants it to end.
  std::optional<pending_execution> take(const run_reference& which) {
    auto i = places_.find(which.id);
    if (i == places_.end()
        || i->second.organization.str() != which.organization)
      return std::nullopt;
    auto v = waiting_.take(i->second);
    places_.erase(i);
    return v;
  }
  std::size_t size() const { return waiting_.size(); }

private:
  fair_queue<pending_execution> waiting_;
  std::unordered_map<std::string, fair_queue<pending_execution>::place> places_;
};

} // namespace troupe
