#pragma once

#include "runtime/model/backend_name.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/limits.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/sandbox_config.hpp"
#include "runtime/model/terminal_size.hpp"
#include "runtime/model/variable.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Living sandboxes: places that stay between calls.
namespace troupe {

/// The name of one sandbox: 22 characters of [a-z0-9], without a prefix, so
/// that it is one label of a host name.
class sandbox_id {
public:
  static constexpr std::size_t length = 22; // of 36 letters: 113 random bits

  sandbox_id() = default;
  static sandbox_id make();
  static result<sandbox_id> parse(std::string_view text);

  const std::string& str() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }

  friend auto operator<=>(const sandbox_id&, const sandbox_id&) = default;
  friend std::string to_string(const sandbox_id& x) { return x.text_; }

private:
  std::string text_;
};

// -- states -------------------------------------------------------------------

enum class sandbox_state : std::uint8_t {
  queued,
  creating,
  running,
  pausing,
  paused,
  resuming,
  stopping,
  stopped,
  deleting,
  deleted,
  failed,
};
inline constexpr std::size_t sandbox_states = 11;

std::string_view to_string(sandbox_state s);
result<sandbox_state> parse_sandbox_state(std::string_view text);

/// The one table of transitions.
bool may_follow(sandbox_state before, sandbox_state after);
/// Takes room at its place: counts against the bounds on living sandboxes.
bool is_live(sandbox_state s);
/// Nothing is left of it but its record.
bool is_over(sandbox_state s);
/// How long it may stay in a state on its way to another one; nothing: as long
/// as it likes.
std::optional<std::chrono::seconds> longest_in(sandbox_state s);

/// What becomes of a sandbox whose timeout is over, or that nothing used.
enum class timeout_action : std::uint8_t { remove, pause, stop };
std::string_view to_string(timeout_action a);

/// Why a sandbox ended, or could not begin.
enum class sandbox_end : std::uint8_t {
  none,
  asked, // by a deletion
  timeout,
  start_failed,
  queue_timeout,
  lost,     // its place does not know it any more
  shutdown, // the engine was stopped
  idle,     // nothing used it
  paused_too_long,
};
inline constexpr std::size_t sandbox_ends = 9;
std::string_view to_string(sandbox_end e);

// -- what is asked for --------------------------------------------------------

namespace bounds {
inline constexpr std::size_t sandbox_name_bytes = 64;
inline constexpr std::size_t sandbox_variables = 256;
inline constexpr std::size_t sandbox_variable_bytes = 128u << 10;
inline constexpr std::size_t sandbox_metadata = 64;        // pairs
inline constexpr std::size_t sandbox_metadata_bytes = 256; // name or value
inline constexpr std::uint32_t sandbox_forks = 100;        // at once
inline constexpr std::size_t sandbox_session_bytes = 128;
inline constexpr std::size_t sandbox_file_bytes = 64u << 20;
inline constexpr std::size_t process_input_bytes = 1u << 20; // of one write
inline constexpr std::size_t process_tag_bytes = 64;
} // namespace bounds

/// A repository that is cloned before a sandbox is handed out.
struct git_source {
  std::string url;
  std::string branch;      // or a tag; "": what the repository begins with
  std::string path;        // inside; "": as git names it, in the home
  std::uint32_t depth = 0; // so many commits; 0: all
};

/// What a sandbox is to be like. What is absent is up to the engine.
struct sandbox_spec {
  std::string name; // "": none
  std::string template_name;
  std::string snapshot; // the id or the name of one; "": none
  std::optional<backend_name> place;
  std::optional<std::chrono::milliseconds> timeout;
  timeout_action on_timeout = timeout_action::remove;
  std::optional<std::chrono::milliseconds> idle_timeout; // 0: none
  timeout_action on_idle = timeout_action::remove;
  bool auto_resume = false;
  /// Of a chat, or whatever else: the same session gives the same sandbox.
  std::string session;
  std::map<std::string, std::string> metadata;
  environment env;
  limit_overrides resources;
  std::optional<network_policy> network;
  std::optional<isolation_level> isolation;
  std::optional<git_source> git;
  bool wait_until_running = true;
};

/// What of a sandbox that is there is to be another; what is absent stays.
struct sandbox_change {
  std::map<std::string, std::optional<std::string>> metadata; // nothing: goes
  std::optional<std::chrono::milliseconds> timeout;           // from now
  std::optional<timeout_action> on_timeout;
  std::optional<std::chrono::milliseconds> idle_timeout; // 0: none
  std::optional<timeout_action> on_idle;
  std::optional<bool> auto_resume;
  std::optional<network_policy> network;
};

/// What is known of a sandbox, without its variables' values.
struct sandbox_record {
  sandbox_id id;
  organization_id organization;
  std::string name;
  sandbox_state state = sandbox_state::queued;
  std::map<std::string, std::string> metadata;
  backend_name place = backend_kind::local;
  std::string template_name;
  std::string snapshot; // the id of the one that it was made from
  timestamp created_at{};
  std::optional<timestamp> ends_at; // nothing until it runs
  std::chrono::milliseconds timeout{0};
  timeout_action on_timeout = timeout_action::remove;
  std::chrono::milliseconds idle_timeout{0}; // 0: none
  timeout_action on_idle = timeout_action::remove;
  bool auto_resume = false; // what needs it to run resumes it
  std::string session;
  isolation_level isolation = isolation_level::standard;
  limits resources;
  network_policy network;
  sandbox_end end = sandbox_end::none;
  std::shared_ptr<const error> failure; // what went wrong last
};
using sandbox_record_ptr = std::shared_ptr<const sandbox_record>;

/// Which sandboxes of an organization; what is empty does not matter.
struct sandbox_filter {
  std::vector<sandbox_state> states; // none: all that are not over
  std::string name;
  std::string template_name;
  std::string session;
  std::optional<backend_name> place;
  std::map<std::string, std::string> metadata; // each of them
  std::string after;                           // an id: those behind it
  std::size_t limit = 50;

  bool accepts(const sandbox_record& r) const;
};

// -- snapshots ----------------------------------------------------------------

/// The files of a sandbox at one moment, which others can be made from. It is
/// gone when the engine is.
struct snapshot_record {
  sandbox_id id;
  organization_id organization;
  std::string name; // "": none
  sandbox_id sandbox;
  backend_name place = backend_kind::local;
  std::string template_name;
  std::uint64_t bytes = 0; // beside what it was made from
  bool copied = false;     // something ran meanwhile
  std::chrono::microseconds stood_still{0};
  timestamp created_at{};
};
using snapshot_record_ptr = std::shared_ptr<const snapshot_record>;

/// Sandboxes with the same files as another one.
struct fork_spec {
  std::uint32_t count = 1;
  std::optional<std::chrono::milliseconds> timeout; // absent: the same
  std::map<std::string, std::string> metadata;      // instead of its own
  environment env;                                  // over its own
};

/// The same, with contexts that go on in each.
struct branch_spec : fork_spec {
  std::vector<std::string> contexts; // ids; none: all that can be taken
};

// -- events -------------------------------------------------------------------

/// Something that happened to a sandbox. Numbers have no holes.
struct sandbox_event {
  enum class kind : std::uint8_t {
    state,           // `subject`: the new one; `reason`: why it ends
    expiring,        // its timeout is over soon
    process_started, // `subject`: the process's id
    process_ended,   // the same; `reason`: why
    snapshot,        // `subject`: its id
    rollback,        // the same: its files are those again
  };

  std::uint64_t number = 0;
  timestamp at{};
  kind what = kind::state;
  std::string subject;
  std::string reason;
};
std::string_view to_string(sandbox_event::kind k);

// -- processes ----------------------------------------------------------------

/// One execution in a sandbox.
struct process_spec {
  std::vector<std::string> argv; // a program ...
  std::string command;           // ... or a line for the shell
  std::string cwd;               // "": the sandbox's own
  environment env;
  std::string input;                    // what its standard input begins with
  bool open_input = false;              // more will come
  std::chrono::milliseconds timeout{0}; // 0: none
  std::string tag;
  /// It gets a terminal in place of three streams: what that shows is its
  /// standard output, and its input is always open.
  std::optional<terminal_size> terminal;

  /// The program with its arguments, whichever way it was said.
  std::vector<std::string> program() const;
};

/// Why a process ended.
enum class process_reason : std::uint8_t {
  running,
  exited,
  signaled,
  timeout,
  killed, // by a deletion of the process
  sandbox_ended,
  lost,
};
std::string_view to_string(process_reason r);

struct process_record {
  std::string id; // "p_..."
  std::vector<std::string> argv;
  std::string cwd;
  std::string tag;
  std::int32_t pid = 0; // inside; 0: the place does not tell
  process_reason reason = process_reason::running;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string detail;
  timestamp started_at{};
  std::optional<timestamp> ended_at;
  std::uint64_t stdout_bytes = 0; // so far
  std::uint64_t stderr_bytes = 0;
  std::optional<terminal_size> terminal;

  bool ended() const { return reason != process_reason::running; }
};

std::string make_process_id();

/// TERM, SIGTERM or 15.
result<std::int32_t> parse_signal(std::string_view text);

} // namespace troupe

template <>
struct std::hash<troupe::sandbox_id> {
  std::size_t operator()(const troupe::sandbox_id& x) const {
    return std::hash<std::string>{}(x.str());
  }
};
