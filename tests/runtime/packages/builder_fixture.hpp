#pragma once

#include "runtime/packages/backend_with_packages.hpp"
#include "tests/support/engine/waiting_observer.hpp"

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

/// A builder over a backend that keeps every run until the test ends it.
namespace troupe::test {

namespace fs = std::filesystem;

/// A directory that goes away with the test.
struct scratch {
  fs::path path = fs::temp_directory_path() / ("troupe-test-" + make_uuid());
  scratch() { fs::create_directories(path); }
  ~scratch() { fs::remove_all(path); }
};

/// Stands in for the local backend: keeps every run until the test ends it.
class held_backend final : public backend {
public:
  struct held {
    prepared_run_ptr run;
    run_observer_ptr observer;
  };

  backend_kind kind() const override { return backend_kind::local; }
  void start(prepared_run_ptr run, run_observer_ptr observer) override {
    std::lock_guard guard{mutex_};
    held_.push_back({std::move(run), std::move(observer)});
    changed_.notify_all();
  }
  void cancel(const run_id& id, exit_reason why) override {
    std::lock_guard guard{mutex_};
    ++cancels;
    cancelled_.emplace_back(id, why);
    changed_.notify_all();
  }
  result<void> ready() const override { return {}; }
  void stop() override {}

  held next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !held_.empty(); });
    auto first = std::move(held_.front());
    held_.pop_front();
    return first;
  }
  std::pair<run_id, exit_reason> next_cancelled() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !cancelled_.empty(); });
    auto first = std::move(cancelled_.front());
    cancelled_.pop_front();
    return first;
  }
  std::size_t pending() {
    std::lock_guard guard{mutex_};
    return held_.size();
  }

  int cancels = 0;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<held> held_;
  std::deque<std::pair<run_id, exit_reason>> cancelled_;
};

inline run_outcome ended(const prepared_run& run, run_status status) {
  run_result r;
  r.id = run.id;
  r.status = status;
  r.reason = exit_reason::exited;
  return {std::move(r), true};
}

inline pip_requirement pip(std::string name, std::string specifier = {}) {
  return {std::move(name), {}, std::move(specifier)};
}

struct builder_fixture {
  scratch dir;
  std::shared_ptr<held_backend> inner = std::make_shared<held_backend>();
  environment_options options;
  std::shared_ptr<environment_builder> builder;
  std::shared_ptr<environment_backend> outer;

  builder_fixture() {
    options.root = dir.path / "environments";
    options.shared_dirs = {dir.path / "shared"};
    fs::create_directories(dir.path / "shared");
    open();
  }
  ~builder_fixture() { builder->stop(); } // or it still writes into `dir`
  void open() {
    if (builder)
      builder->stop(); // one at a time
    outer.reset();
    builder.reset();
    builder = std::make_shared<environment_builder>(inner, options);
    BOOST_REQUIRE(builder->open().has_value());
    outer = std::make_shared<environment_backend>(inner, builder);
  }
  prepared_run_ptr run_with(std::vector<pip_requirement> packages) {
    prepared_run run;
    run.id = run_id::make();
    run.organization = default_organization();
    run.pip_requirements = std::move(packages);
    return std::make_shared<const prepared_run>(std::move(run));
  }
  /// Plays the installer: puts a file into the staged directory.
  void install(const held_backend::held& h) {
    std::ofstream{fs::path{h.run->mounts.at(0).host} / "installed"} << "yes";
    h.observer->finished(ended(*h.run, run_status::success));
  }
};

} // namespace troupe::test
