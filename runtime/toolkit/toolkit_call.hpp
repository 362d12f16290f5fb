#pragma once

#include "runtime/engine/sandbox_engine.hpp"
#include "runtime/toolkit/catalogue.hpp"
#include "runtime/toolkit/outcome.hpp"
#include "runtime/toolkit/sessions.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::toolkit {

/// Where relative paths start in the sandboxes of a place: their user's home.
std::string workspace_at(backend_kind place);

/// What a call needs of the interface that it came by.
struct call_hooks {
  /// Calls back so much later, on some thread.
  std::function<void(std::chrono::milliseconds, std::function<void()>)> after;
  /// A line for people while it goes on; may be empty.
  std::function<void(std::string)> progress{};
};

/// The session that a call works in, and how it was chosen.
struct binding {
  std::string session;
  std::string how; // for people
};

struct call_rules {
  std::size_t characters = 30'000; // of a result, where the call does not say
  /// The life of a session's sandbox that is always in use.
  std::chrono::milliseconds longest_life{std::chrono::hours{24}};
  /// No call blocks longer: clients give up after a minute.
  std::chrono::milliseconds longest_wait{50'000};
};

/// One call of a tool on its way: it has the sandbox of its session, its
/// arguments are checked, and it is answered exactly once. Thread-safe.
class toolkit_call : public std::enable_shared_from_this<toolkit_call> {
public:
  using done = std::function<void(outcome)>;

  toolkit_call(sandbox_engine& engine, sessions& all, caller who,
               const listed_tool& tool, json::object arguments, binding where,
               call_rules rules, call_hooks hooks, done then);

  void begin();
  /// The caller is gone: what was begun ends, and nothing is answered.
  void cancel();

  // -- for tools -------------------------------------------------------------
  sandbox_engine& engine() const { return engine_; }
  const caller& who() const { return who_; }
  const binding& where() const { return where_; }
  const call_rules& rules() const { return rules_; }
  bool tells_progress() const;
  void progress(std::string line) const;
  session& memory() const { return *session_; }
  const sandbox_id& sandbox() const { return sandbox_; }
  const sandbox_record_ptr& record() const { return record_; }

  // Arguments: they fit the schema of the tool.
  const json::value* argument(std::string_view name) const;
  std::string text(std::string_view name,
                   std::string_view otherwise = {}) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  bool flag(std::string_view name) const;
  std::chrono::milliseconds wait(std::int64_t usual = 45'000) const;
  std::size_t most_characters() const;

  // Paths: as they are said, in the sandbox, and for people.
  const std::string& workspace() const { return workspace_; }
  result<std::string> inside(std::string_view said) const;
  std::string shown(std::string_view path) const;

  bool over() const { return over_.load(); }
  void answer(outcome what);
  void answer(std::string text) { answer(outcome{.text = std::move(text)}); }
  /// The call could not do what was asked.
  void refuse(std::string text) { answer(refusal(std::move(text))); }
  void fail(const sandbox_error& why);
  /// Goes on with what came, or fails with why it did not.
  template <class T, class Then>
  sandbox_handler<T> or_fail(Then then) {
    return [self = shared_from_this(),
            then = std::move(then)](sandbox_result<T> came) {
      if (self->over())
        return;
      if (!came)
        return self->fail(came.error());
      if constexpr (std::is_void_v<T>)
        then();
      else
        then(std::move(*came));
    };
  }
  /// What a cancellation ends; the last one that was said counts.
  void on_cancel(std::function<void()> end);
  void after(std::chrono::milliseconds time, std::function<void()> then);

private:
  std::shared_ptr<const call_hooks> hooks() const;
  void ask_for_sandbox(std::function<void(sandbox_record_ptr)> then);
  void find_named();
  void find_sandbox();
  void look_for_sandbox();
  void make_sandbox();
  void enter(sandbox_record_ptr record);

  sandbox_engine& engine_;
  sessions& all_;
  const caller who_;
  const listed_tool& tool_;
  const json::object arguments_;
  binding where_;
  const call_rules rules_;
  session_ptr session_;
  sandbox_id sandbox_;
  sandbox_record_ptr record_;
  std::string workspace_ = "/home/user";
  std::string note_; // in front of the answer
  const std::chrono::steady_clock::time_point began_
    = std::chrono::steady_clock::now();
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_; // guards what follows
  bool cancelled_ = false;
  /// Of the caller, which is let go with the answer: a program that goes on
  /// remembers the call, and must not keep a connection.
  std::shared_ptr<const call_hooks> hooks_;
  std::shared_ptr<toolkit_call> self_; // until it is over
  done then_;
  std::function<void()> end_;
};

} // namespace troupe::toolkit
