#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/error.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/runner/remote_script.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

/// One sandbox at a provider.
struct remote_sandbox {
  std::string id;
  /// What the provider gave with it: access tokens and hosts, by name.
  std::map<std::string, secret> keys{};
  /// Variables of the run that is in it, where its processes get them one by
  /// one and not the sandbox at its creation.
  environment env{};
  /// Meant for more than one run: nothing of one may stay in a process that
  /// the next one uses.
  bool shared = false;
};

/// What a sandbox is wanted for.
struct sandbox_request {
  prepared_run_ptr run;
  std::string tag;               // marks it as ours, by its lease
  std::chrono::seconds lifetime; // then it ends, whatever becomes of us
  std::string key{};             // of runs that may use it; "": this one only
};

/// Bounds and ends every call of one run, and says whose it is.
struct call_scope {
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<abort_switch> abort;
  std::string traceparent{}; // W3C, goes out with every request
  /// Told as soon as it is known that the program was begun; may be empty.
  std::function<void()> begun{};
};

inline void tell_begun(const call_scope& scope) {
  if (scope.begun)
    scope.begun();
}

/// Receives output while a process or script runs.
using output_sink = std::function<void(output_stream, std::string_view)>;

struct command_request {
  std::vector<std::string> argv; // each an argument, never a shell's text
  std::string input;
  std::map<std::string, std::string> env; // beside the sandbox's own
  std::string cwd;
};

/// How a remote process ended, as the provider reports it.
struct command_end {
  std::int32_t exit_code = 0;
  bool signaled = false;
  std::int32_t signal = 0; // 0: one that the provider does not name
  std::string detail;
};

/// What became of a program. A failure tells whether it may have begun all the
/// same: then nobody else may run it.
struct execution {
  result<command_end> end;
  bool may_have_begun = true;

  execution(command_end how) : end{std::move(how)} {}
  execution(error why, bool begun)
      : end{std::move(why)}, may_have_begun{begun} {}
};

class remote_files;

/// Something that a provider does beside runs, tried in a sandbox of ours and
/// judged by what came of it. It says that to an operator.
struct rehearsal {
  std::string name; // "files"
  std::function<boost::asio::awaitable<result<std::string>>(remote_sandbox,
                                                            call_scope)>
    play;
};

/// What differs between providers. Coroutines on the client's executor; each
/// ends by the scope's deadline or when its switch trips.
class provider {
public:
  virtual ~provider() = default;

  virtual backend_kind kind() const = 0;
  virtual std::string_view name() const = 0; // "E2B", for messages
  /// What an operator still has to set, or nothing.
  virtual result<void> ready() const = 0;

  /// Its own credentials: never to be seen in what it says.
  virtual std::vector<secret> secrets() const = 0;

  /// Whether `create` sees to the run's packages (an image has them).
  virtual bool installs_at_creation() const { return false; }

  /// Where in a sandbox that others use as well a run's Python packages go, to
  /// be seen by that run alone; "": where pip puts them.
  virtual std::string package_folder(const remote_sandbox&) const { return {}; }

  /// Whether what `create` makes is there until it is ended. Otherwise nothing
  /// is to be remembered or cleaned up.
  virtual bool keeps_sandboxes() const { return true; }

  /// Whether a sandbox can serve more than one run, or wait for the first.
  virtual bool supports_reuse() const { return false; }
  /// Whether `rejoin` moves the end of a sandbox's life.
  virtual bool can_extend_timeout() const { return false; }

  /// A fresh sandbox with the run's network policy, its variables unless it is
  /// shared, and the tag. Tells whether one may exist all the same when it
  /// fails, and which, so that it can go at once.
  struct creation {
    result<remote_sandbox> sandbox;
    bool may_exist = false;
    std::string left_behind{};
  };
  virtual boost::asio::awaitable<creation> create(sandbox_request wish,
                                                  call_scope scope)
    = 0;

  /// A sandbox that was left alone for a while, if it is still there, for
  /// `lifetime` more. `not_found` when it is not.
  virtual boost::asio::awaitable<result<remote_sandbox>>
  rejoin(remote_sandbox sandbox, std::chrono::seconds lifetime,
         call_scope scope);

  /// Runs a program to its end.
  virtual boost::asio::awaitable<execution>
  execute(const remote_sandbox& sandbox, command_request what, output_sink sink,
          call_scope scope)
    = 0;

  /// Runs a self-contained script to its end; it prints its answer.
  virtual boost::asio::awaitable<execution>
  run_script(const remote_sandbox& sandbox, language lang,
             script::remote_script script, output_sink sink, call_scope scope)
    = 0;

  /// Ends it. One that is gone already is fine.
  virtual boost::asio::awaitable<result<void>>
  destroy(const remote_sandbox& sandbox, call_scope scope) = 0;

  /// Every sandbox of ours (tagged so) that is alive.
  struct tagged {
    std::string sandbox;
    std::string tag;
  };
  virtual boost::asio::awaitable<result<std::vector<tagged>>>
  list(call_scope scope) = 0;

  /// Its files from outside; null where there is no way in.
  virtual remote_files* files() { return nullptr; }

  /// What it does beside runs, to be tried one after the other in one sandbox.
  /// The provider has to be there until they are through.
  virtual std::vector<rehearsal> rehearsals() { return {}; }
};

} // namespace troupe::net
