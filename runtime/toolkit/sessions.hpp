#pragma once

#include "runtime/engine/sandbox_contexts.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::toolkit {

/// What is remembered of one session between its calls.
class session {
public:
  /// The sandbox of the last call; empty: there was none.
  sandbox_id sandbox() const;
  /// Which one it is now. True when it is another one than before.
  bool moved_to(const sandbox_id& id);
  void forget();

  /// How far the output of a process has been shown.
  output_offsets shown(const std::string& process) const;
  void shown(const std::string& process, output_offsets now);

  /// Code that goes on when its call has been answered: an id to ask for it by,
  /// "cell-3". The oldest one that was kept goes when there are many.
  struct kept_cell {
    sandbox_cell_ptr cell;
    std::string context; // for people
    output_offsets shown{};
  };
  std::string keep(kept_cell running);
  std::optional<kept_cell> kept(const std::string& id) const;
  void kept(const std::string& id, output_offsets shown);
  /// The cell that still runs in a context of that name, "": none.
  std::string running_in(const std::string& context) const;

private:
  void clear();

  mutable std::mutex mutex_;
  sandbox_id sandbox_;
  std::map<std::uint64_t, kept_cell> cells_; // by number
  std::uint64_t last_cell_ = 0;
  std::map<std::string, output_offsets> shown_; // by process
};
using session_ptr = std::shared_ptr<session>;

/// The sessions that callers work in: of an organization and a name, which is
/// that of the engine's own session, so that each has one sandbox at most.
/// What is kept here is only convenience: a session that was dropped finds its
/// sandbox again. Thread-safe.
class sessions {
public:
  /// Beyond so many the one that was not used for longest is dropped.
  explicit sessions(std::size_t most = 10'000) : most_{most} {}

  session_ptr of(const organization_id& organization, const std::string& name);
  std::size_t size() const;

private:
  using key = std::pair<organization_id, std::string>;
  struct entry {
    session_ptr kept;
    std::uint64_t used = 0;
  };

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::uint64_t turn_ = 0;
  std::map<key, entry> all_;
  std::map<std::uint64_t, key> by_use_;
};

/// A name that an application gives: 1 to 128 of [A-Za-z0-9._:@/-].
bool is_session_name(std::string_view name);

/// An id for a model to name a second sandbox by, and whether it can be one.
std::string make_session_id();
bool is_session_id(std::string_view text);

} // namespace troupe::toolkit
