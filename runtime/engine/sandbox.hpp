#pragma once

#include "runtime/async/cancellation.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/model/terminal_size.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The sandbox port: what makes sandboxes, executes in them and reaches their
/// files, the same for every provider. One-shot runs use it by way of
/// `runtime/sandboxes`; it is implemented in `net/providers`.
namespace troupe {

/// One sandbox at a provider.
struct sandbox_handle {
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

/// What a sandbox is made with. Nothing in it is about a single execution, so
/// it serves a run, the runs of one kind, and a sandbox that lives by itself.
struct sandbox_request {
  std::string tag;               // marks it as ours, by its lease
  std::chrono::seconds lifetime; // then it ends, whatever becomes of us
  organization_id organization;
  run_id run{}; // that it is made for; empty: no single one
  /// Of the runs that may share it; "": it is for one only.
  std::string key{};
  std::shared_ptr<const sandbox_config> config{}; // null: says nothing
  /// What will be executed in it: an image may depend on that.
  run_kind kind = run_kind::source;
  language lang = language::python;
  std::vector<pip_requirement> pip_requirements{};
  std::vector<npm_requirement> npm_requirements{};
  /// That it is made from; "": from its template.
  std::string snapshot{};
  troupe::limits limits{};
  network_policy network{};
  /// Of every process in it; none where it is shared: each process then gets
  /// those of its own run.
  environment env{};
  /// Called at most once, on the place's executor, when it is gone and nobody
  /// asked for that. Places that hear of it later say so in their answers.
  std::function<void(const error&)> lost{};

  bool shared() const { return !key.empty(); }
};

/// The request's sandbox config, one that says nothing if there is none.
const sandbox_config& config_of(const sandbox_request& request);

/// Bounds and ends every call of one caller, and says which trace it is of.
struct call_scope {
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<cancellation> cancel;
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

struct process_request {
  std::vector<std::string> argv; // each an argument, never a shell's text
  std::string input;
  std::map<std::string, std::string> env; // beside the sandbox's own
  std::string cwd;
  /// A terminal, which it leads, in place of three streams. All that it shows
  /// is standard output. Only where `terminals` is among the capabilities.
  std::optional<terminal_size> terminal{};
};

/// How a process in a sandbox ended, as the provider reports it.
struct process_end {
  std::int32_t exit_code = 0;
  bool signaled = false;
  std::int32_t signal = 0; // 0: one that the provider does not name
  std::string detail;
};

/// A program that goes on in a sandbox while its caller does other things. It
/// ends with its sandbox at the latest. On the provider's executor.
class sandbox_process {
public:
  virtual ~sandbox_process() = default;
  virtual std::int32_t pid() const = 0; // inside
  /// To its standard input; `exhausted` while it has not read 1 MiB of earlier
  /// writes, `conflict` when it has none (any more).
  virtual result<void> write(std::string bytes) = 0;
  /// At a terminal: the key that says so.
  virtual void close_input() = 0;
  /// To the process and everything that it started.
  virtual result<void> signal(std::int32_t number) = 0;
  /// Of its terminal; `conflict` when it has none.
  virtual result<void> resize(terminal_size) {
    return fail(ec::conflict, "the process has no terminal");
  }
};
using sandbox_process_ptr = std::shared_ptr<sandbox_process>;

/// What a process tells. Called on the provider's executor, `ended` exactly
/// once and last, also when its sandbox goes away.
struct process_events {
  output_sink output;
  std::function<void(result<process_end>)> ended;
};

/// A self-contained program in two pieces: a thousand runs share one copy of
/// the first, which is much the larger one.
struct sandbox_script {
  std::shared_ptr<const std::string> runner; // the same for all of a language
  secret rest;                               // this run's request and key

  std::string text() const { return *runner + rest.reveal(); }
};

/// What became of a program. A failure tells whether it may have begun all the
/// same: then it must not run anywhere else.
struct process_outcome {
  result<process_end> end;
  bool may_have_begun = true;

  process_outcome(process_end how) : end{std::move(how)} {}
  process_outcome(error why, bool begun)
      : end{std::move(why)}, may_have_begun{begun} {}
};

/// What came of asking for a sandbox. A failure tells whether one may exist all
/// the same, and which, so that it can go at once.
struct sandbox_creation {
  result<sandbox_handle> sandbox;
  bool may_exist = false;
  std::string left_behind{};
};

/// A living sandbox that carries a tag of ours.
struct tagged_sandbox {
  std::string sandbox;
  std::string tag;
};

/// What a provider can do beside creating, executing and ending.
struct sandbox_capabilities {
  /// A sandbox stays until it is ended. Otherwise nothing is to be remembered
  /// or cleaned up.
  bool outlives_call = true;
  /// It is there when the engine has gone and another one asks for it.
  bool outlives_engine = true;
  /// One can serve more than one run, or wait for the first.
  bool reuse = false;
  /// `reconnect` moves the end of a sandbox's life.
  bool renew = false;
  /// `create` sees to the packages (an image has them).
  bool installs_packages = false;
  /// `start` works: processes with input and signals, beside each other.
  bool processes = false;
  /// A process can have a terminal.
  bool terminals = false;
  /// `start_kernel` works.
  bool contexts = false;
  /// `connect` and `ports` work.
  bool ports = false;
  /// `pause` and `resume` work: processes stand still and keep their memory.
  bool pause = false;
  /// `snapshot` and `rollback` work, and a request may name a snapshot.
  bool snapshots = false;
  /// `set_network` works.
  bool set_network = false;
  /// `save_kernel` works, and a kernel may begin from an image.
  bool branches = false;
};

class sandbox_files;
class sandbox_kernel;
class kernel_image;
struct kernel_request;
struct kernel_events;

/// Something that a provider does beside runs, tried in a sandbox of ours and
/// judged by what came of it. It says that to an operator.
struct sandbox_self_test {
  std::string name; // "files"
  std::function<boost::asio::awaitable<result<std::string>>(sandbox_handle,
                                                            call_scope)>
    run;
};

/// The files of a sandbox at one moment, at its place.
struct place_snapshot {
  std::string id;
  std::uint64_t bytes = 0; // that it takes beside what it was made from
  bool copied = false;     // something ran: what it wrote was copied
  std::chrono::microseconds stood_still{0}; // so long the sandbox did
};

/// What makes sandboxes. Coroutines on one executor; each ends by the scope's
/// deadline or when it is cancelled.
class sandbox_provider {
public:
  template <class T>
  using later = boost::asio::awaitable<T>;

  virtual ~sandbox_provider() = default;

  virtual backend_kind kind() const = 0;
  /// Which account this is, where the engine has several at one provider. Said
  /// once, before anything is asked of it.
  backend_name backend() const { return account_ ? *account_ : kind(); }
  void set_account(backend_name name) { account_ = name; }

  virtual std::string_view name() const = 0; // "E2B", for messages
  virtual sandbox_capabilities capabilities() const = 0;
  /// What an operator still has to set, or nothing.
  virtual result<void> ready() const = 0;

  /// Its own credentials: never to be seen in what it says.
  virtual std::vector<secret> secrets() const = 0;

  /// Where in a sandbox that others use as well a run's Python packages go, to
  /// be seen by that run alone; "": where pip puts them.
  virtual std::string package_folder(const sandbox_handle&) const { return {}; }

  /// A fresh sandbox with the network policy, the variables and the tag.
  virtual later<sandbox_creation> create(sandbox_request wanted,
                                         call_scope scope)
    = 0;

  /// A sandbox that was left alone for a while, if it is still there, for
  /// `lifetime` more. `not_found` when it is not.
  virtual later<result<sandbox_handle>> reconnect(sandbox_handle sandbox,
                                                  std::chrono::seconds lifetime,
                                                  call_scope scope);

  /// Everything in it stands still, for `lifetime` at most.
  virtual later<result<void>> pause(const sandbox_handle& sandbox,
                                    std::chrono::seconds lifetime,
                                    call_scope scope);
  /// It goes on, for `lifetime` more. One that was not paused is fine.
  virtual later<result<void>> resume(const sandbox_handle& sandbox,
                                     std::chrono::seconds lifetime,
                                     call_scope scope);

  /// Its files as they are now. It stays as it is, and for others to be made
  /// from.
  virtual later<result<place_snapshot>> snapshot(const sandbox_handle& sandbox,
                                                 call_scope scope);
  /// Its files are those of a snapshot again; everything in it ends.
  virtual later<result<void>> rollback(const sandbox_handle& sandbox,
                                       std::string snapshot, call_scope scope);
  /// Of no more use. Sandboxes that were made from it stay. One that is gone is
  /// fine.
  virtual later<result<void>> forget_snapshot(std::string snapshot,
                                              call_scope scope);

  /// Runs a program to its end.
  virtual later<process_outcome> execute(const sandbox_handle& sandbox,
                                         process_request what, output_sink sink,
                                         call_scope scope)
    = 0;

  /// Begins a program. The scope bounds the beginning, not the program.
  virtual later<result<sandbox_process_ptr>>
  start(const sandbox_handle& sandbox, process_request what, bool open_input,
        process_events events, call_scope scope);

  /// Begins an interpreter that keeps its state (`sandbox_kernel.hpp`), and
  /// answers when it is ready.
  virtual later<result<std::shared_ptr<sandbox_kernel>>>
  start_kernel(const sandbox_handle& sandbox, kernel_request what,
               kernel_events events, call_scope scope);

  /// An interpreter as it is now, in which no cell runs; it goes on. `conflict`
  /// says what it has that cannot be kept. The scope's `begun` is told when
  /// nothing of that was found.
  virtual later<result<std::shared_ptr<const kernel_image>>>
  save_kernel(const sandbox_handle& sandbox,
              std::shared_ptr<sandbox_kernel> kernel, call_scope scope);

  /// Runs a self-contained script to its end; it prints its answer.
  virtual later<process_outcome>
  run_script(const sandbox_handle& sandbox, language lang,
             sandbox_script script, output_sink sink, call_scope scope)
    = 0;

  /// A stream socket, non-blocking, to what listens on a TCP port inside, and
  /// to nothing else. `conflict` when nothing does.
  virtual later<result<unique_fd>>
  connect(const sandbox_handle& sandbox, std::uint16_t port, call_scope scope);

  /// The TCP ports inside that are listened on, in order.
  virtual later<result<std::vector<std::uint16_t>>>
  ports(const sandbox_handle& sandbox, call_scope scope);

  /// Another network policy while it lives: connections that it refuses end.
  virtual later<result<void>> set_network(const sandbox_handle& sandbox,
                                          network_policy policy,
                                          call_scope scope);

  /// Ends it. One that is gone already is fine.
  virtual later<result<void>> destroy(const sandbox_handle& sandbox,
                                      call_scope scope)
    = 0;

  /// Every sandbox of ours (tagged so) that is alive.
  virtual later<result<std::vector<tagged_sandbox>>> list(call_scope scope) = 0;

  /// Its files from outside; null where there is no way in.
  virtual sandbox_files* files() { return nullptr; }

  /// What it does beside runs, to be tried one after the other in one sandbox.
  /// The provider has to be there until they are through.
  virtual std::vector<sandbox_self_test> self_tests() { return {}; }

private:
  std::optional<backend_name> account_;
};

} // namespace troupe
