// Sandboxes that live on this machine, beside a plain spawn of the same
// program: made, used and ended, one after the other.
#include "bench/bench.hpp"
#include "runtime/async/io_thread.hpp"
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

  sandbox_handle make(std::string snapshot = {}) {
    sandbox_request wanted;
    wanted.snapshot = std::move(snapshot);
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
  void pause_and_resume(const sandbox_handle& in) {
    constexpr std::chrono::minutes lifetime{10};
    demand(call(sandboxes_->pause(in, lifetime, soon())).has_value()
             && call(sandboxes_->resume(in, lifetime, soon())).has_value(),
           "a pause");
  }
  std::string take_snapshot(const sandbox_handle& of) {
    auto made = call(sandboxes_->snapshot(of, soon()));
    demand(made.has_value() && !made->copied, "a snapshot");
    return made->id;
  }
  void forget(const std::string& snapshot) {
    demand(call(sandboxes_->forget_snapshot(snapshot, soon())).has_value(),
           "a snapshot's end");
  }
  void write_files(const sandbox_handle& in, int count) {
    process_request what;
    what.argv = {"/bin/sh", "-c",
                 "i=0; while [ $i -lt " + std::to_string(count)
                   + " ]; do echo $i > f$i; i=$((i+1)); done"};
    output_sink sink = [](output_stream, std::string_view) {};
    auto done = call(sandboxes_->execute(in, std::move(what), sink, soon()));
    demand(done.end.has_value(), "files of a sandbox");
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

void spawn_true() {
  pid_t pid = -1;
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  demand(::posix_spawn(&pid, program, nullptr, nullptr, argv, environ) == 0
           && ::waitpid(pid, nullptr, 0) == pid,
         "a plain process");
}

/// One shot: what others call a sandbox, its end included.
void run_bwrap() {
  pid_t pid = -1;
  std::vector<std::string> words{"bwrap", "--unshare-all", "--ro-bind", "/",
                                 "/",     "/bin/true"};
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int status = -1;
  demand(::posix_spawnp(&pid, "bwrap", nullptr, nullptr, argv.data(), environ)
             == 0
           && ::waitpid(pid, &status, 0) == pid && status == 0,
         "bwrap, to compare with");
}

/// What is put away as layers, against making a sandbox in one shot.
void measure_snapshots(report& out) {
  constexpr std::size_t cuts = 10;
  constexpr std::size_t forks = 10;
  machine here;
  run_bwrap();
  std::vector<double> shots, small, large, forked, still;
  for (std::size_t i = 0; i < cuts; ++i) {
    auto few = here.make();
    here.write_files(few, 10);
    auto many = here.make();
    here.write_files(many, 2'000);
    shots.push_back(seconds(run_bwrap));
    still.push_back(seconds([&] { here.pause_and_resume(few); }));
    std::string of_few, of_many;
    small.push_back(seconds([&] { of_few = here.take_snapshot(few); }));
    large.push_back(seconds([&] { of_many = here.take_snapshot(many); }));
    std::vector<sandbox_handle> made;
    forked.push_back(seconds([&] {
                       const auto snapshot = here.take_snapshot(few);
                       for (std::size_t n = 0; n < forks; ++n)
                         made.push_back(here.make(snapshot));
                       here.forget(snapshot);
                     })
                     / forks);
    for (const auto& each : made)
      here.destroy(each);
    here.forget(of_few);
    here.forget(of_many);
    here.destroy(few);
    here.destroy(many);
  }
  const auto us = [](const std::vector<double>& s) { return median(s) * 1e6; };
  out.add("sandboxes.bwrap.p50", us(shots), "us");
  out.add("sandboxes.snapshot.p50", us(small), "us");
  out.add("sandboxes.fork.p50", us(forked), "us");
  out.add("sandboxes.pause_and_resume.p50", us(still), "us");
  out.at_most("sandboxes.pause.vs_bwrap", median_ratio(still, shots), "x", 0.3);
  out.at_most("sandboxes.snapshot.vs_bwrap", median_ratio(small, shots), "x",
              0.5);
  out.at_most("sandboxes.snapshot.of_2000_files", median_ratio(large, small),
              "x", 1.3);
  out.at_most("sandboxes.fork.vs_bwrap", median_ratio(forked, shots), "x", 0.6);
  out.note("snapshot: of a sandbox in which nothing runs, until it goes on; "
           "fork: of ten at once, each; bwrap: --unshare-all with /bin/true");
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
const area snapshots{"snapshots", "sandboxes put away as layers, and forked",
                     measure_snapshots};

} // namespace

} // namespace troupe::bench
