#pragma once

#include "actors/protocol/wire_json.hpp"
#include "runtime/engine/engine.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

/// What travels between actors, and between nodes. Inside a process the
/// pointers travel as they are; on a wire they become JSON text. A struct's
/// members never change: later fields go into `ext`, as text.
namespace troupe {

using wire_ext = std::map<std::string, std::string>;
inline constexpr std::uint16_t wire_version = 1;

/// "Run this": an execution message.
struct execution {
  std::uint16_t version = wire_version;
  std::shared_ptr<const run_request> request;
  caller who; // of a message from elsewhere
  wire_ext ext;
  std::shared_ptr<const error> unreadable; // why what came is no request
};

/// The answer: what came of the run.
struct run_answer {
  std::uint16_t version = wire_version;
  std::shared_ptr<const run_result> result;
  wire_ext ext;
  std::shared_ptr<const error> unreadable; // why what came is no result
};

/// What the answer says: a result, or why it is none.
result<std::shared_ptr<const run_result>> result_of(result<run_answer> answer);

/// Which run, and on whose behalf.
struct run_reference {
  std::uint16_t version = wire_version;
  std::string id;
  std::string organization;
  wire_ext ext;
};

/// What is known about a run now.
struct run_status_message {
  std::uint16_t version = wire_version;
  std::string id;
  std::string organization;
  std::uint8_t phase = 0; // of run_phase
  std::string backend;
  std::string tool_name;
  std::int64_t created_at_us = 0; // since the epoch
  std::int64_t ended_at_us = 0;   // 0: not yet
  std::shared_ptr<const run_result> result;
  std::shared_ptr<const error> failure;
  std::shared_ptr<const secret> request; // stays in this process
  wire_ext ext;
};

/// A failure of the engine, inside of a `caf::error`.
struct error_message {
  std::uint16_t version = wire_version;
  std::shared_ptr<const error> what;
  wire_ext ext;
};

/// The handshake: the first message between two nodes.
struct hello {
  std::uint16_t version = wire_version;
  std::string name;
  std::string boot; // differs after every start
  wire_ext ext;
};

// -- words of `ext` -----------------------------------------------------------

/// Of an execution: nothing is to be looked up for it but its config, which
/// this is (JSON, see `config_for_peer`).
inline constexpr const char* complete_run = "config";

/// A hello that is answered when the other one is about to stop: at once, if it
/// is, or knows nothing of this.
hello hello_until_stop(std::string name);
bool waits_for_stop(const hello& them);
/// The answer of a node that is about to stop.
void say_stopping(hello& us);
bool is_stopping(const hello& them);

run_status_message to_note(const run_record& record);
run_record to_record(const run_status_message& note);

/// The only two places where an error changes its clothes.
caf::error to_caf(error e);
error from_caf(const caf::error& e);

// -- text forms, for the wire ------------------------------------------------
// What cannot be read is no reason to drop the message, as CAF would, without a
// word: the caller would wait for ever.
void read_text(const std::string& text,
               std::shared_ptr<const run_request>& request,
               std::shared_ptr<const error>& unreadable);
void read_text(const std::string& text,
               std::shared_ptr<const run_result>& result,
               std::shared_ptr<const error>& unreadable);
void read_text(const std::string& text, std::shared_ptr<const error>& failure);

template <class Inspector>
inline constexpr bool prints
  = std::is_same_v<Inspector, caf::detail::stringification_inspector>;

// Printing shows the id only: a log line must not hold a source or a secret.

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, execution& x) {
  if constexpr (prints<Inspector>) {
    std::string id = x.request ? x.request->id.str() : std::string{"nothing"};
    return f(caf::meta::type_name("execution"), x.version, id);
  } else {
    std::string text;
    if constexpr (Inspector::reads_state)
      text = to_text(x.request);
    auto failed = f(x.version, text, x.who.organization, x.who.user, x.who.key,
                    x.who.scopes, x.who.request_id, x.ext);
    if constexpr (Inspector::writes_state)
      read_text(text, x.request, x.unreadable);
    wipe(text); // it holds variables
    return failed;
  }
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run_answer& x) {
  if constexpr (prints<Inspector>) {
    std::string id = x.result ? x.result->id.str() : std::string{"nothing"};
    return f(caf::meta::type_name("run_answer"), x.version, id);
  } else {
    std::string text;
    if constexpr (Inspector::reads_state)
      text = to_link_text(x.result);
    auto failed = f(x.version, text, x.ext);
    if constexpr (Inspector::writes_state)
      read_text(text, x.result, x.unreadable);
    return failed;
  }
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run_reference& x) {
  return f(caf::meta::type_name("run_reference"), x.version, x.id,
           x.organization, x.ext);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run_status_message& x) {
  if constexpr (prints<Inspector>) {
    return f(caf::meta::type_name("run_status_message"), x.version, x.id,
             x.phase);
  } else {
    std::string result, failure;
    if constexpr (Inspector::reads_state) {
      result = to_link_text(x.result);
      failure = to_text(x.failure);
    }
    auto failed
      = f(x.version, x.id, x.organization, x.phase, x.backend, x.tool_name,
          x.created_at_us, x.ended_at_us, result, failure, x.ext);
    if constexpr (Inspector::writes_state) {
      read_text(failure, x.failure);
      read_text(result, x.result, x.failure);
    }
    return failed;
  }
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, error_message& x) {
  if constexpr (prints<Inspector>) {
    std::string text = x.what ? to_string(*x.what) : std::string{"nothing"};
    return f(caf::meta::type_name("error_message"), text);
  } else {
    std::string text;
    if constexpr (Inspector::reads_state)
      text = to_text(x.what);
    auto failed = f(x.version, text, x.ext);
    if constexpr (Inspector::writes_state)
      read_text(text, x.what);
    return failed;
  }
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, hello& x) {
  return f(caf::meta::type_name("hello"), x.version, x.name, x.boot, x.ext);
}

} // namespace troupe
