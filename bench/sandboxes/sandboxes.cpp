// Sandboxes that live on this machine, beside a plain spawn of the same
// program: made, used and ended, one after the other.
#include "bench/bench.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/engine/sandbox_kernel.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <stdexcept>

namespace troupe::bench {

namespace {

namespace asio = boost::asio;

constexpr std::size_t rounds = 60;

call_scope soon() {
  return {clock::now() + std::chrono::seconds{30}, {}};
}

void demand(bool holds, const char* what) {
  if (!holds)
    throw std::runtime_error{what};
}

class machine {
public:
  machine() {
    char name[] = "/tmp/troupe-bench-XXXXXX";
    demand(::mkdtemp(name) != nullptr, "a state directory");
    options_.state_dir = name;
    options_.zygote.enabled = false;
    options_.ready_node = 0;
    auto opened = local_backend::open(io_.executor(), options_);
    demand(opened.has_value(), "a local backend");
    backend_ = *opened;
    demand(backend_->wait_until_probed().has_value(), "a host that isolates");
    sandboxes_ = local_sandboxes::make(backend_->strand(), backend_->wardens());
  }
  ~machine() {
    backend_->stop();
    std::error_code ignored;
    std::filesystem::remove_all(options_.state_dir, ignored);
  }

  template <class T>
  T call(asio::awaitable<T> work) {
    std::promise<T> promise;
    auto answer = promise.get_future();
    auto keep
      = [](asio::awaitable<T> it, std::promise<T> to) -> asio::awaitable<void> {
      to.set_value(co_await std::move(it));
    };
    asio::co_spawn(backend_->strand(),
                   keep(std::move(work), std::move(promise)), asio::detached);
    return answer.get();
  }

  sandbox_handle make() {
    sandbox_request wanted;
    wanted.network.mode = network_mode::off;
    wanted.lifetime = std::chrono::minutes{10};
    auto made = call(sandboxes_->create(std::move(wanted), soon()));
    demand(made.sandbox.has_value(), "a sandbox");
    return *made.sandbox;
  }
  void run_true(const sandbox_handle& in) {
    process_request what;
    what.argv = {"/bin/true"};
    output_sink sink = [](output_stream, std::string_view) {};
    auto done = call(sandboxes_->execute(in, std::move(what), sink, soon()));
    demand(done.end.has_value(), "a process in a sandbox");
  }
  void read_file(const sandbox_handle& in) {
    auto text = call(sandboxes_->files()->read(in, "/etc/passwd", soon()));
    demand(text.has_value(), "a file of a sandbox");
  }
  /// An interpreter of a context, and how to run a cell in it.
  work cells_in(const sandbox_handle& in, context_language language,
                std::string code) {
    auto done = std::make_shared<std::promise<bool>>();
    kernel_request wanted;
    wanted.language = language;
    kernel_events events;
    events.done = [done](kernel_answer how) {
      done->set_value(how.status == cell_status::ok);
    };
    auto begun = call(sandboxes_->start_kernel(in, wanted, events, soon()));
    demand(begun.has_value(), "an interpreter in a sandbox");
    return [this, done, kernel = *begun, code = std::move(code)] {
      *done = {};
      auto answer = done->get_future();
      asio::post(backend_->strand(),
                 [&] { demand(kernel->run(code).has_value(), "a cell"); });
      demand(answer.get(), "the end of a cell");
    };
  }
  void destroy(const sandbox_handle& sandbox) {
    demand(call(sandboxes_->destroy(sandbox, soon())).has_value(),
           "the end of a sandbox");
  }

private:
  io_thread io_;
  local_options options_;
  std::shared_ptr<local_backend> backend_;
  std::shared_ptr<local_sandboxes> sandboxes_;
};

void spawn(std::vector<std::string> words) {
  pid_t pid = -1;
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  demand(
    ::posix_spawnp(&pid, argv.front(), nullptr, nullptr, argv.data(), environ)
        == 0
      && ::waitpid(pid, nullptr, 0) == pid,
    "a plain process");
}

void spawn_true() {
  spawn({"/bin/true"});
}

/// What an agent would do without a context: a fresh interpreter per cell.
void measure_contexts(report& out) {
  machine here;
  auto living = here.make();
  const auto python = here.cells_in(living, context_language::python, "1+1");
  const auto bash = here.cells_in(living, context_language::bash, ":");
  const auto all = interleave(rounds,
                              {[] {
                                 spawn({"python3", "-c", "1+1"});
                               },
                               python, bash, spawn_true});
  const auto us = [](const std::vector<double>& s) { return median(s) * 1e6; };
  out.add("contexts.python.fresh.p50", us(all[0]), "us");
  out.add("contexts.python.cell.p50", us(all[1]), "us");
  out.add("contexts.bash.cell.p50", us(all[2]), "us");
  out.at_most("contexts.python.cell.vs_fresh", median_ratio(all[1], all[0]),
              "x", 0.04);
  out.at_most("contexts.bash.cell.vs_spawn", median_ratio(all[2], all[3]), "x",
              0.5);
  out.note("a cell `1+1` in a Python context against `python3 -c 1+1` on the "
           "host; `:` in one of bash against posix_spawn of /bin/true");
  here.destroy(living);
}

void measure_sandboxes(report& out) {
  machine here;
  auto living = here.make();
  sandbox_handle fresh;
  const auto all = interleave(rounds,
                              {spawn_true, [&] { fresh = here.make(); },
                               [&] { here.run_true(living); },
                               [&] { here.read_file(living); }});
  std::vector<double> ends;
  // The others are still there: what was made last stands for all.
  for (std::size_t i = 0; i < rounds; ++i) {
    auto one = here.make();
    ends.push_back(seconds([&] { here.destroy(one); }));
  }
  const auto& spawned = all[0];
  const auto us = [](const std::vector<double>& s) { return median(s) * 1e6; };
  out.add("sandboxes.spawn.p50", us(spawned), "us");
  out.add("sandboxes.create.p50", us(all[1]), "us");
  out.add("sandboxes.create.p99", quantile(all[1], 0.99) * 1e6, "us");
  out.add("sandboxes.destroy.p50", us(ends), "us");
  out.add("sandboxes.read_file.p50", us(all[3]), "us");
  out.add("sandboxes.execute.p50", us(all[2]), "us");
  out.at_most("sandboxes.execute.vs_spawn", median_ratio(all[2], spawned), "x",
              2.2);
  out.note("execute: /bin/true in a living sandbox against posix_spawn and "
           "wait on the host; create: without a pool");
}

const area sandboxes{"sandboxes", "sandboxes that live on this machine",
                     measure_sandboxes};
const area contexts{"contexts", "interpreters that keep their state",
                    measure_contexts};

} // namespace

} // namespace troupe::bench
