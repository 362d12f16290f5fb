#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace troupe::test {

namespace {

/// What `./dev setup` brought, where the host's Node is too old to be forked.
std::string chosen_node() {
  const char* chosen = std::getenv("TROUPE_LOCAL_NODE");
  return chosen ? chosen : "";
}

} // namespace

void watcher::started() {
  started_ = true;
}

void watcher::output(output_stream, std::string_view text) {
  std::lock_guard lock{mutex_};
  out_ += text;
  changed_.notify_all();
}

void watcher::finished(run_outcome outcome) {
  std::lock_guard lock{mutex_};
  outcome_ = std::move(outcome);
  changed_.notify_all();
}

run_outcome watcher::wait() {
  std::unique_lock lock{mutex_};
  bool ended = changed_.wait_for(lock, std::chrono::seconds{60},
                                 [&] { return outcome_.has_value(); });
  BOOST_REQUIRE_MESSAGE(ended, "the run did not end in a minute");
  return *outcome_;
}

bool watcher::wait_for_output(std::string_view text) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, std::chrono::seconds{60}, [&] {
    return outcome_ || out_.find(text) != std::string::npos;
  });
  return out_.find(text) != std::string::npos;
}

std::string watcher::output() {
  std::lock_guard lock{mutex_};
  return out_;
}

local_host::local_host(local_options options) : busy_{io_.get_executor()} {
  if (options.node.empty())
    options.node = chosen_node();
  char name[] = "/tmp/troupe-test-XXXXXX";
  own_state_dir_ = options.state_dir.empty();
  if (own_state_dir_) {
    BOOST_REQUIRE(::mkdtemp(name) != nullptr);
    options.state_dir = name;
  }
  state_dir_ = options.state_dir;
  for (int i = 0; i < 2; ++i)
    threads_.emplace_back([this] { io_.run(); });
  auto opened = local_backend::open(io_.get_executor(), std::move(options));
  BOOST_REQUIRE_MESSAGE(opened, to_string(opened.error()));
  backend_ = *opened;
  (void)backend_->wait_until_probed(); // what it says is the test's business
}

local_host::~local_host() {
  backend_->stop();
  backend_.reset();
  busy_.reset();
  for (auto& t : threads_)
    t.join();
  std::error_code code;
  if (own_state_dir_)
    std::filesystem::remove_all(state_dir_, code);
}

std::shared_ptr<watcher> local_host::start(prepared_run run) {
  if (run.id.empty())
    run.id = run_id::make();
  // Where nobody lets us make groups, all the rest can still be looked at.
  const auto probed = backend_->probe();
  const auto* bound = probed.find("memory_limit");
  if (run.isolation == isolation_level::standard && bound != nullptr
      && bound->reason.starts_with("no memory cgroup"))
    run.isolation = isolation_level::best_effort;
  auto seen = std::make_shared<watcher>();
  backend_->start(std::make_shared<const prepared_run>(std::move(run)), seen);
  return seen;
}

run_result local_host::run(prepared_run run) {
  auto outcome = start(std::move(run))->wait();
  BOOST_REQUIRE_MESSAGE(outcome.answer, to_string(outcome.answer.error()));
  return *outcome.answer;
}

int living_warden(local_host& host) {
  const auto pid = host.backend().warden_pid();
  BOOST_REQUIRE(pid > 0);
  return pid;
}

local_host& shared_host() {
  static auto* host = [] {
    auto* made = new local_host;
    // Before the executable's own statics go away.
    std::atexit([] { delete &shared_host(); });
    return made;
  }();
  return *host;
}

prepared_run shell(std::string line) {
  prepared_run run;
  run.kind = run_kind::command;
  run.lang = language::shell;
  run.name = "shell";
  run.command = std::move(line);
  run.limits.wall = std::chrono::seconds{20};
  return run;
}

prepared_run program(std::vector<std::string> argv) {
  auto run = shell("");
  run.argv = std::move(argv);
  return run;
}

prepared_run python(std::string code) {
  return program({"/usr/bin/python3", "-I", "-c", std::move(code)});
}

prepared_run node(std::string code) {
  return program({"/usr/bin/node", "-e", std::move(code)});
}

const std::string& lacks_warm_node() {
  static const auto why = []() -> std::string {
    constexpr int oldest = 20; // what the addon's interface asks for
    int major = 0;
    const auto chosen = chosen_node();
    const auto ask
      = (chosen.empty() ? "node" : chosen) + " --version 2>/dev/null";
    if (auto* told = ::popen(ask.c_str(), "r")) {
      if (std::fscanf(told, "v%d", &major) != 1)
        major = 0;
      ::pclose(told);
    }
    if (major >= oldest)
      return {};
    return "warm Node needs Node 20, and here is "
      + (major == 0 ? std::string{"none"} : "Node " + std::to_string(major));
  }();
  return why;
}

std::string lacks(std::string_view layer) {
  auto report = shared_host().backend().probe();
  auto* found = report.find(layer);
  if (found != nullptr && found->state == layer_state::enforced)
    return {};
  return std::string{layer} + ": "
    + (found == nullptr ? "not probed" : found->reason);
}

bool eventually(const std::function<bool()>& done) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!done()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

int serve_a_sleeper(const char* state_dir) {
  boost::asio::io_context io;
  auto busy = boost::asio::make_work_guard(io);
  std::thread thread{[&] { io.run(); }};
  local_options options;
  options.state_dir = state_dir;
  auto backend = local_backend::open(io.get_executor(), options);
  if (!backend)
    return 1;
  auto run = shell("echo on; sleep 1000");
  run.limits.wall = std::chrono::minutes{5};
  run.id = run_id::make();
  auto seen = std::make_shared<watcher>();
  (*backend)->start(std::make_shared<const prepared_run>(run), seen);
  seen->wait_for_output("on");
  std::cout << (*backend)->instance_directory() << std::endl;
  thread.join(); // never: somebody kills us
  return 0;
}

} // namespace troupe::test
