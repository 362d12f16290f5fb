#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/variable.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <tuple>

namespace troupe {

/// What credentials are requested for.
struct credential_query {
  organization_id organization;
  user_id user;
  std::string tool_name; // may be empty
  std::string agent_id;  // may be empty
  /// W3C: of the run that asked first. Not part of the query: others that ask
  /// the same share the answer.
  std::string traceparent{};

  auto question() const {
    return std::tie(organization, user, tool_name, agent_id);
  }
  friend auto operator<=>(const credential_query& a,
                          const credential_query& b) {
    return a.question() <=> b.question();
  }
  friend bool operator==(const credential_query& a, const credential_query& b) {
    return a.question() == b.question();
  }
};

/// An external source of credentials per run: a webhook. Thread-safe;
/// does not block.
class credential_source {
public:
  virtual ~credential_source() = default;
  /// `done` is called exactly once, on any thread, within the timeout. Names
  /// and values of the answer are not checked yet.
  virtual void ask(credential_query query, std::chrono::milliseconds timeout,
                   std::function<void(result<environment>)> done)
    = 0;
};

} // namespace troupe
