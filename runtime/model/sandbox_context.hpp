#pragma once

#include "runtime/model/sandbox.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Contexts: interpreters in a living sandbox that keep their state between the
/// pieces of code, called cells, that are run in them.
namespace troupe {

enum class context_language : std::uint8_t {
  python,
  javascript,
  typescript,
  bash,
};
std::string_view to_string(context_language l);
result<context_language> parse_context_language(std::string_view text);

namespace bounds {
inline constexpr std::size_t cell_code_bytes = 1u << 20;
/// One value in all of its forms.
inline constexpr std::size_t bundle_bytes = 16u << 20;
inline constexpr std::size_t bundle_parts = 32;
/// What one cell tells beside its output; what is more is counted.
inline constexpr std::size_t cell_events = 10'000;
inline constexpr std::size_t cell_event_bytes = 32u << 20;
} // namespace bounds

/// A value in the forms that it has, by MIME type. Forms of JSON are JSON text,
/// pictures are base64, as Jupyter has them.
using mime_bundle = std::vector<std::pair<std::string, std::string>>;

bool is_json_type(std::string_view mime);

/// What a cell tells beside its output.
struct cell_event {
  enum class kind : std::uint8_t {
    display, // shown while it runs
    update,  // of what was shown under that id
    result,  // the value of its last expression
    error,
  } what
    = kind::display;
  std::string display_id; // "": none
  mime_bundle data;       // all but an error
  std::string name;       // of an error: its class
  std::string value;
  std::string traceback;

  std::size_t bytes() const;
};
std::string_view to_string(cell_event::kind k);

enum class cell_status : std::uint8_t {
  queued,
  running,
  ok,
  error,       // it raised
  interrupted, // by a call
  timeout,
  lost, // its context ended before it did
};
std::string_view to_string(cell_status s);

/// One piece of code in a context.
struct cell_spec {
  std::string code;
  std::chrono::milliseconds timeout{0}; // 0: none but the sandbox's
};

struct cell_record {
  std::string context;
  cell_status status = cell_status::queued;
  bool state_lost = false; // what the context had in memory is gone
  std::uint64_t execution_count = 0;
  std::string detail;
  timestamp queued_at{};
  std::optional<timestamp> began_at;
  std::optional<timestamp> ended_at;
  std::uint64_t stdout_bytes = 0; // so far
  std::uint64_t stderr_bytes = 0;
  std::uint64_t dropped_events = 0; // beyond the bounds

  bool ended() const { return status > cell_status::running; }
};

struct context_spec {
  context_language language = context_language::python;
  std::string name;
  std::string cwd; // "": the sandbox's own
  environment env;
  /// When it was lost, the next cell begins with a fresh one.
  bool auto_restart = false;
};

enum class context_state : std::uint8_t { starting, idle, busy, lost };
std::string_view to_string(context_state s);

struct context_record {
  std::string id; // "c_..."
  std::string name;
  context_language language = context_language::python;
  std::string cwd;
  bool is_default = false; // of its language: for cells that name none
  bool auto_restart = false;
  context_state state = context_state::starting;
  std::string detail;   // why it was lost
  std::int32_t pid = 0; // inside
  std::uint64_t execution_count = 0;
  std::size_t queued = 0; // cells that wait
  timestamp created_at{};
};

std::string make_context_id();

} // namespace troupe
