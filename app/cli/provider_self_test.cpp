#include "app/cli/provider_self_test.hpp"

#include "app/assembly/provider_options.hpp"
#include "runtime/runner/program.hpp"
#include "runtime/sandboxes/sandbox_for_run.hpp"
#include "runtime/sandboxes/self_test.hpp"
#include "storage/adapters/memory_leases.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <future>

namespace troupe {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using tags = std::vector<tagged_sandbox>;

namespace {

constexpr auto patience = 60s;       // for one question to a service
constexpr auto run_patience = 15min; // an image may have to be built first

class last_word final : public run_observer {
public:
  void finished(run_outcome outcome) override {
    outcome_.set_value(std::move(outcome));
  }
  run_outcome wait() { return outcome_.get_future().get(); }

private:
  std::promise<run_outcome> outcome_;
};

// Promises are shared below: whoever keeps one may still be in it when the
// other has the answer and goes on.

/// What the engine would use, with a thread and a book of its own.
class side {
public:
  static result<std::unique_ptr<side>> open(const provider_account& account,
                                            std::shared_ptr<lease_book> book) {
    std::unique_ptr<side> made{new side};
    auto client = std::make_shared<net::http_client>(made->io_.executor(),
                                                     net::client_options{});
    auto where = account.make(client);
    if (!where)
      return where.error();
    made->where_ = *where;
    made->book_ = book;
    auto bounds = account.limits();
    bounds.reconcile_every = 0s;
    made->backend_ = std::make_shared<provider_backend>(
      *where, std::move(book), made->io_.executor(), bounds);
    return made;
  }
  ~side() {
    if (backend_)
      backend_->stop();
  }

  result<void> ready() const { return where_->ready(); }
  /// Otherwise nothing is asked for before the first run.
  bool lists_sandboxes() const { return where_->capabilities().outlives_call; }

  bool has_self_tests() const { return !where_->self_tests().empty(); }

  result<tags> list() {
    auto answer = std::make_shared<std::promise<result<tags>>>();
    auto work = [](std::shared_ptr<sandbox_provider> at,
                   std::shared_ptr<std::promise<result<tags>>> told)
      -> asio::awaitable<void> {
      call_scope scope{steady::now() + patience, nullptr};
      auto found = co_await at->list(scope);
      told->set_value(std::move(found));
    };
    asio::co_spawn(io_.executor(), work(where_, answer), asio::detached);
    auto found = answer->get_future().get();
    if (found)
      return found;
    auto why = found.error();
    for (const auto& each : where_->secrets())
      mask_secret(why.text, each);
    return why;
  }

  run_outcome run(prepared_run r) {
    auto watcher = std::make_shared<last_word>();
    backend_->start(std::make_shared<const prepared_run>(std::move(r)),
                    watcher);
    return watcher->wait();
  }

  bool test_all(prepared_run r, self_test_sink tell) {
    auto answer = std::make_shared<std::promise<bool>>();
    auto run = std::make_shared<const prepared_run>(std::move(r));
    call_scope scope{run->deadline, nullptr};
    auto work
      = [](asio::awaitable<bool> all,
           std::shared_ptr<std::promise<bool>> told) -> asio::awaitable<void> {
      auto fine = co_await std::move(all);
      told->set_value(fine);
    };
    asio::co_spawn(io_.executor(),
                   work(run_self_tests(where_, sandbox_for(*run), book_,
                                       std::move(tell), std::move(scope)),
                        answer),
                   asio::detached);
    return answer->get_future().get();
  }

  result<tags> reconcile(bool dry_run) {
    backend_->rest(patience); // answers do not wait for the end of a sandbox
    auto answer = std::make_shared<std::promise<result<tags>>>();
    backend_->reconcile(dry_run, [answer](result<tags> found) {
      answer->set_value(std::move(found));
    });
    return answer->get_future().get();
  }

private:
  side() = default;

  io_thread io_;
  std::shared_ptr<sandbox_provider> where_;
  std::shared_ptr<lease_book> book_;
  std::shared_ptr<provider_backend> backend_;
};

// -- the runs -----------------------------------------------------------------

prepared_run plain_run(backend_kind kind) {
  prepared_run r;
  r.id = run_id::make();
  r.organization = default_organization();
  r.name = r.function = "add";
  r.args_json = R"({"a": 2, "b": 40})";
  r.limits.wall = 60s;
  auto config = std::make_shared<sandbox_config>();
  config->type = kind;
  r.config = std::move(config);
  r.deadline = steady::now() + run_patience;
  // Asked of a variable that may hold anything: quotes must survive.
  r.env.emplace("TROUPE_TRIAL", secret{"it's \"here\""});
  return r;
}

prepared_run python_tool(backend_kind kind) {
  auto r = plain_run(kind);
  r.source = "import os\n"
             "def add(a: int, b: int):\n"
             "    assert os.environ['TROUPE_TRIAL'] == 'it\\'s \"here\"'\n"
             "    return a + b\n";
  return r;
}

prepared_run typescript_tool(backend_kind kind) {
  auto r = plain_run(kind);
  r.lang = script::typescript_available() ? language::typescript
                                          : language::javascript;
  r.source = r.lang == language::typescript
    ? "export function add(a: number, b: number): number {\n"
    : "export function add(a, b) {\n";
  r.source += "  if (process.env.TROUPE_TRIAL !== `it's \"here\"`)\n"
              "    throw new Error('the variable did not arrive as it is');\n"
              "  return a + b;\n}\n";
  return r;
}

prepared_run command(backend_kind kind) {
  auto r = plain_run(kind);
  r.kind = run_kind::command;
  r.lang = language::shell;
  r.command = "cat";
  r.stdin_text = "42";
  return r;
}

trial_step step_of(std::string name, const run_outcome& outcome) {
  trial_step step{std::move(name), {}, false, {}};
  if (!outcome.answer) {
    step.detail = outcome.answer.error().text;
    return step;
  }
  const auto& r = *outcome.answer;
  // A command has no value, only what it printed.
  auto seen = r.value_json == "null" ? r.stdout_text : r.value_json;
  step.fine = r.status == run_status::success && seen == "42";
  step.detail = step.fine         ? "answered 42"
    : !r.failure.friendly.empty() ? r.failure.friendly
                                  : "answered '" + seen.substr(0, 200)
      + "' instead of 42" + (r.detail.empty() ? "" : " (" + r.detail + ")");
  return step;
}

class teller {
public:
  explicit teller(const step_sink& sink) : sink_{sink} {}

  bool operator()(trial_step step) {
    auto now = steady::now();
    step.took
      = std::chrono::duration_cast<std::chrono::milliseconds>(now - began_);
    began_ = now;
    sink_(step);
    return step.fine;
  }

private:
  const step_sink& sink_;
  steady::time_point began_ = steady::now();
};

trial_step failed(std::string name, const error& why) {
  return {std::move(name), why.text, false, {}};
}

} // namespace

bool try_provider(const provider_account& account, const step_sink& sink) {
  const auto kind = account.name.kind();
  teller tell{sink};
  auto book = std::make_shared<memory_lease_book>();
  auto opened = side::open(account, book);
  if (!opened)
    return tell(failed("settings", opened.error()));
  auto& at = **opened;
  if (auto ready = at.ready(); !account.is_configured() || !ready)
    return tell(failed("settings",
                       ready ? error{ec::unavailable, "not configured", {}, {}}
                             : ready.error()));
  tell({"settings", "complete", true, {}});
  auto before = at.list();
  if (!before)
    return tell(failed("credentials", before.error()));
  tell({"credentials",
        at.lists_sandboxes() ? "accepted; " + std::to_string(before->size())
            + " sandboxes of this engine exist"
                             : "not tested separately: the first run will",
        true,
        {}});
  for (auto& [name, run] : {std::pair{"Python tool", python_tool(kind)},
                            std::pair{"TypeScript tool", typescript_tool(kind)},
                            std::pair{"command with input", command(kind)}})
    if (!tell(step_of(name, at.run(run))))
      return false;
  if (at.has_self_tests()
      && !at.test_all(
        plain_run(kind), [&](const std::string& name, const auto& came) {
          tell({name, came ? *came : came.error().text, came.has_value(), {}});
        }))
    return false;
  auto left = at.reconcile(true);
  if (!left)
    return tell(failed("cleaning up", left.error()));
  trial_step end{"cleaning up", "all sandboxes deleted", true, {}};
  if (!left->empty() || !book->list(account.name).empty())
    end = {"cleaning up",
           "a sandbox still exists; it will end after its lifetime",
           false,
           {}};
  return tell(std::move(end));
}

bool try_webhook(const settings& s, const step_sink& sink) {
  teller tell{sink};
  if (s.credentials.webhook_url.empty())
    return tell({"settings",
                 "no webhook configured: set credentials.webhook-url "
                 "(STEP_ORCHESTRATOR_ENDPOINT)",
                 false,
                 {}});
  io_thread io;
  auto client
    = std::make_shared<net::http_client>(io.executor(), net::client_options{});
  auto source = net::make_webhook(client, webhook_options_from(s));
  if (!source)
    return tell(failed("settings", source.error()));
  tell({"settings", s.credentials.webhook_url, true, {}});
  auto answer = std::make_shared<std::promise<result<environment>>>();
  credential_query who{default_organization(), default_user(), "trial", ""};
  (*source)->ask(who, s.credentials.timeout, [answer](result<environment> e) {
    answer->set_value(std::move(e));
  });
  auto got = answer->get_future().get();
  if (!got)
    return tell(failed("answer", got.error()));
  std::string names;
  for (const auto& [name, value] : *got)
    names += (names.empty() ? "" : ", ") + name;
  return tell({"answer",
               std::to_string(got->size()) + " variables"
                 + (names.empty() ? "" : ": " + names),
               true,
               {}});
}

result<tags> collect_leftovers(const provider_account& account,
                               std::shared_ptr<lease_book> book, bool dry_run) {
  auto at = side::open(account, std::move(book));
  if (!at)
    return at.error();
  return (*at)->reconcile(dry_run);
}

} // namespace troupe
