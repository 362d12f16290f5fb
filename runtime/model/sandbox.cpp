#include "runtime/model/sandbox.hpp"

#include "runtime/base/random.hpp"
#include "runtime/model/sandbox_context.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace troupe {

namespace {

/// Letters and digits, each as likely as any other.
std::string random_word(std::size_t length) {
  static constexpr std::string_view letters
    = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::uint8_t fair = 252; // the largest multiple of 36 in a byte
  std::string word;
  while (word.size() < length) {
    std::array<std::uint8_t, 32> some{};
    random_bytes(some);
    for (auto byte : some)
      if (byte < fair && word.size() < length)
        word += letters[byte % letters.size()];
  }
  return word;
}

bool is_sandbox_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

} // namespace

sandbox_id sandbox_id::make() {
  sandbox_id id;
  id.text_ = random_word(length);
  return id;
}

result<sandbox_id> sandbox_id::parse(std::string_view text) {
  if (text.size() != length || !is_sandbox_word(text))
    return bad_field("", "is no sandbox id",
                     "it has 22 lower case letters and digits");
  sandbox_id id;
  id.text_ = std::string{text};
  return id;
}

bool sandbox_filter::accepts(const sandbox_record& r) const {
  if (states.empty() ? is_over(r.state)
                     : std::ranges::find(states, r.state) == states.end())
    return false;
  if (!name.empty() && name != r.name)
    return false;
  if (!template_name.empty() && template_name != r.template_name)
    return false;
  if (!session.empty() && session != r.session)
    return false;
  if (place && *place != r.place)
    return false;
  return std::ranges::all_of(metadata, [&r](const auto& wanted) {
    auto found = r.metadata.find(wanted.first);
    return found != r.metadata.end() && found->second == wanted.second;
  });
}

std::vector<std::string> process_spec::program() const {
  if (!argv.empty())
    return argv;
  return {"/bin/sh", "-c", command};
}

std::string make_process_id() {
  return "p_" + random_word(16);
}

std::string make_context_id() {
  return "c_" + random_word(16);
}

result<std::int32_t> parse_signal(std::string_view text) {
  struct named {
    std::string_view name;
    std::int32_t number;
  };
  static constexpr named known[] = {
    {"HUP", SIGHUP},     {"INT", SIGINT},   {"QUIT", SIGQUIT},
    {"KILL", SIGKILL},   {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
    {"TERM", SIGTERM},   {"CONT", SIGCONT}, {"STOP", SIGSTOP},
    {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},
    {"PIPE", SIGPIPE},   {"ALRM", SIGALRM}, {"ABRT", SIGABRT},
    {"WINCH", SIGWINCH},
  };
  auto bare = text;
  if (bare.starts_with("SIG"))
    bare.remove_prefix(3);
  for (const auto& each : known)
    if (each.name == bare || std::to_string(each.number) == text)
      return each.number;
  return bad_field("", "is no signal that can be sent",
                   "a name such as TERM, or its number");
}

namespace {

using state = sandbox_state;

constexpr std::uint32_t one(state s) {
  return 1u << static_cast<unsigned>(s);
}

template <class... States>
constexpr std::uint32_t any(States... all) {
  return (one(all) | ... | 0u);
}

struct state_row {
  state is;
  std::string_view name;
  std::uint32_t next; // what may follow
  bool live;
  std::chrono::seconds longest; // 0: no bound
};

using std::chrono::seconds;

// Deleting follows everything that may have left something at a place.
constexpr std::array<state_row, sandbox_states> rows{{
  {state::queued, "queued", any(state::creating, state::failed, state::deleted),
   false, seconds{0}},
  {state::creating, "creating",
   any(state::running, state::failed, state::deleting), true, seconds{60}},
  {state::running, "running",
   any(state::pausing, state::stopping, state::stopped, state::deleting,
       state::failed),
   true, seconds{0}},
  {state::pausing, "pausing",
   any(state::paused, state::running, state::stopping, state::deleting,
       state::failed),
   true, seconds{10}},
  {state::paused, "paused",
   any(state::resuming, state::stopping, state::stopped, state::deleting,
       state::failed),
   true, seconds{0}},
  {state::resuming, "resuming",
   any(state::running, state::paused, state::stopping, state::deleting,
       state::failed),
   true, seconds{10}},
  {state::stopping, "stopping",
   any(state::stopped, state::deleting, state::failed), true, seconds{30}},
  {state::stopped, "stopped", any(state::creating, state::deleting), false,
   seconds{0}},
  {state::deleting, "deleting", any(state::deleted), true, seconds{30}},
  {state::deleted, "deleted", any(), false, seconds{0}},
  {state::failed, "failed", any(state::deleting, state::deleted), false,
   seconds{0}},
}};

constexpr const state_row& row_of(state s) {
  return rows[static_cast<std::size_t>(s)];
}

constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is != static_cast<state>(i))
      return false;
  return true;
}
static_assert(in_order());

} // namespace

std::string_view to_string(sandbox_state s) {
  return row_of(s).name;
}

result<sandbox_state> parse_sandbox_state(std::string_view text) {
  std::string known;
  for (const auto& each : rows) {
    if (each.name == text)
      return each.is;
    known.append(known.empty() ? "" : ", ").append(each.name);
  }
  return bad_field("", "is no state of a sandbox", "one of " + known);
}

bool may_follow(sandbox_state before, sandbox_state after) {
  return (row_of(before).next & one(after)) != 0;
}

bool is_live(sandbox_state s) {
  return row_of(s).live;
}

bool is_over(sandbox_state s) {
  return s == state::deleted || s == state::failed;
}

std::optional<std::chrono::seconds> longest_in(sandbox_state s) {
  const auto longest = row_of(s).longest;
  return longest.count() > 0 ? std::optional{longest} : std::nullopt;
}

std::string_view to_string(timeout_action a) {
  switch (a) {
  case timeout_action::remove:
    return "delete";
  case timeout_action::pause:
    return "pause";
  case timeout_action::stop:
    return "stop";
  }
  return "delete";
}

std::string_view to_string(sandbox_end e) {
  switch (e) {
  case sandbox_end::none:
    return "";
  case sandbox_end::asked:
    return "deleted";
  case sandbox_end::timeout:
    return "timeout";
  case sandbox_end::start_failed:
    return "start_failed";
  case sandbox_end::queue_timeout:
    return "queue_timeout";
  case sandbox_end::lost:
    return "lost";
  case sandbox_end::shutdown:
    return "shutdown";
  case sandbox_end::idle:
    return "idle";
  case sandbox_end::paused_too_long:
    return "paused_too_long";
  }
  return "";
}

std::string_view to_string(sandbox_event::kind k) {
  switch (k) {
  case sandbox_event::kind::state:
    return "state";
  case sandbox_event::kind::expiring:
    return "expiring";
  case sandbox_event::kind::process_started:
    return "process_started";
  case sandbox_event::kind::process_ended:
    return "process_ended";
  case sandbox_event::kind::snapshot:
    return "snapshot";
  case sandbox_event::kind::rollback:
    return "rollback";
  }
  return "state";
}

std::string_view to_string(process_reason r) {
  switch (r) {
  case process_reason::running:
    return "running";
  case process_reason::exited:
    return "exited";
  case process_reason::signaled:
    return "signaled";
  case process_reason::timeout:
    return "timeout";
  case process_reason::killed:
    return "killed";
  case process_reason::sandbox_ended:
    return "sandbox_ended";
  case process_reason::lost:
    return "lost";
  }
  return "lost";
}

} // namespace troupe
