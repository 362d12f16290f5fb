#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/engine/engine.hpp"

#include <string>

namespace troupe {

/// What a client's key for a request stands for.
struct archived_answer {
  enum class kind : std::uint8_t {
    mine,    // the first request: carry it out, then `keep` or `release`
    open,    // a repeated one; unknown whether the first was carried out
    other,   // the key was used for another request
    answered // with `answer`
  };
  kind what = kind::mine;
  std::string ticket; // kind mine: for `keep` and `release`
  std::string answer;
};

/// Answers to requests that changed something, by the client's key, so that
/// the same request changes nothing again; also over a restart. Thread-safe;
/// no call blocks, every handler is called.
class response_store {
public:
  virtual ~response_store() = default;
  /// `request` is everything that makes it this request; only a keyed digest
  /// of it is kept.
  virtual void enter(organization_id who, std::string key, secret request,
                     handler<archived_answer> done)
    = 0;
  virtual void keep(organization_id who, std::string key, std::string ticket,
                    std::string answer)
    = 0;
  /// It came to nothing: the key is free again.
  virtual void release(organization_id who, std::string key, std::string ticket)
    = 0;
  /// Waits until everything asked for is done; nothing is asked for after.
  virtual void stop() = 0;
};

} // namespace troupe
