#include "runtime/packages/backend_with_packages.hpp"

#include "runtime/packages/installer.hpp"

#include <mutex>
#include <unordered_map>

namespace troupe {

namespace {

constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

run_outcome before_start(error why) {
  run_outcome outcome{std::move(why)};
  outcome.packages_unavailable = true;
  return outcome;
}

/// Holds the environment for as long as the run lasts.
class leased_observer final : public run_observer {
public:
  leased_observer(run_observer_ptr next, environment_lease_ptr lease)
      : next_{std::move(next)}, lease_{std::move(lease)} {}

  void started() override { next_->started(); }
  void output(output_stream s, std::string_view bytes) override {
    next_->output(s, bytes);
  }
  void progress(std::string_view line) override { next_->progress(line); }
  void finished(run_outcome outcome) override {
    if (outcome.answer)
      outcome.answer->package_set = lease_->fingerprint;
    lease_.reset();
    next_->finished(std::move(outcome));
  }

private:
  run_observer_ptr next_;
  environment_lease_ptr lease_;
};

void prepend_path(prepared_run& run, const std::string& directories) {
  auto known = run.env.find("PATH");
  auto rest = known == run.env.end() ? std::string{default_path}
                                     : known->second.reveal();
  run.env.insert_or_assign("PATH", secret{directories + ":" + rest});
}

/// "python3.11/site-packages" of a venv, by what is in its lib.
std::string packages_in(const std::filesystem::path& venv) {
  std::error_code why;
  for (const auto& item :
       std::filesystem::directory_iterator{venv / "lib", why})
    if (auto name = item.path().filename().string(); name.starts_with("python"))
      return "lib/" + name + "/site-packages";
  return {};
}

/// A venv of the user's own stays the interpreter; what was installed comes
/// before what is in it. They must be of one version to go together.
result<void> add_to_venv(prepared_run& run, const environment_lease& lease,
                         const std::string& venv) {
  auto packages = packages_in(lease.directory);
  if (packages != packages_in(venv))
    return error{ec::invalid_request,
                 "the venv in sandbox_dir has another Python version than the "
                 "engine installs packages for; install them into the venv, or "
                 "leave out use_venv",
                 {},
                 {}};
  auto path = std::string{environment_home} + "/" + packages;
  auto known = run.env.find("PYTHONPATH");
  if (known != run.env.end() && known->second.size() > 0)
    path += ":" + known->second.reveal();
  run.env.insert_or_assign("PYTHONPATH", secret{std::move(path)});
  return {};
}

result<prepared_run> with_environment(const prepared_run& run,
                                      const local_requirements& required,
                                      const environment_lease& lease) {
  auto out = run;
  std::string home{environment_home};
  out.mounts.push_back({lease.directory.string(), home, false});
  if (!required.packages.npm.empty()) {
    out.env.try_emplace("NODE_PATH", home + "/node_modules");
    prepend_path(out, home + "/node_modules/.bin");
  }
  if (required.packages.pip.empty())
    return out;
  prepend_path(out, home + "/bin");
  if (!required.venv.empty()) {
    if (auto added = add_to_venv(out, lease, required.venv); !added)
      return added.error();
    return out;
  }
  out.interpreter = home + "/bin/python3";
  out.venv = home;
  out.env.insert_or_assign("VIRTUAL_ENV", secret{home});
  return out;
}

prepared_run_ptr with_directory(prepared_run_ptr run,
                                const local_requirements& required) {
  if (required.mounts.empty())
    return run;
  auto more = std::make_shared<prepared_run>(*run);
  more->mounts.insert(more->mounts.end(), required.mounts.begin(),
                      required.mounts.end());
  if (more->working_dir.empty())
    more->working_dir = required.working_dir;
  if (required.venv.empty())
    return more;
  more->interpreter = required.venv + "/bin/python3";
  more->env.insert_or_assign("VIRTUAL_ENV", secret{required.venv});
  prepend_path(*more, required.venv + "/bin");
  return more;
}

} // namespace

/// Runs whose environment is still being built, so that they can be cancelled.
class environment_backend::waiting_runs {
public:
  void add(const run_id& id, run_observer_ptr observer) {
    std::lock_guard guard{mutex_};
    runs_.emplace(id, std::move(observer));
  }
  /// Whoever takes a run answers it.
  run_observer_ptr take(const run_id& id) {
    std::lock_guard guard{mutex_};
    auto node = runs_.extract(id);
    return node ? std::move(node.mapped()) : nullptr;
  }
  /// Under the lock, so that `finished` cannot overtake.
  void progress(const run_id& id, std::string_view line) {
    std::lock_guard guard{mutex_};
    if (auto i = runs_.find(id); i != runs_.end())
      i->second->progress(line);
  }

private:
  std::mutex mutex_;
  std::unordered_map<run_id, run_observer_ptr> runs_;
};

environment_backend::environment_backend(
  std::shared_ptr<backend> inner, std::shared_ptr<environment_builder> builder)
    : inner_{std::move(inner)}, builder_{std::move(builder)},
      waiting_{std::make_shared<waiting_runs>()} {}

environment_backend::~environment_backend() = default;

void environment_backend::start(prepared_run_ptr run,
                                run_observer_ptr observer) {
  auto required = requirements_of(*run, builder_->options());
  if (!required)
    return observer->finished(before_start(required.error()));
  run = with_directory(std::move(run), *required);
  if (required->packages.empty())
    return inner_->start(std::move(run), std::move(observer));
  waiting_->add(run->id, std::move(observer));
  environment_waiter waiter;
  waiter.progress = [waiting = waiting_, id = run->id](std::string_view line) {
    waiting->progress(id, line);
  };
  waiter.finished
    = [waiting = waiting_, inner = inner_, run,
       required = *required](result<environment_lease_ptr> lease) {
        auto listener = waiting->take(run->id);
        if (!listener)
          return; // cancelled, and told so
        if (!lease)
          return listener->finished(before_start(lease.error()));
        auto complete = with_environment(*run, required, **lease);
        if (!complete)
          return listener->finished(before_start(complete.error()));
        inner->start(std::make_shared<const prepared_run>(std::move(*complete)),
                     std::make_shared<leased_observer>(listener, *lease));
      };
  builder_->acquire(required->packages, std::move(waiter));
}

void environment_backend::cancel(const run_id& id, exit_reason reason) {
  auto listener = waiting_->take(id);
  if (!listener)
    return inner_->cancel(id, reason);
  run_result ended;
  ended.id = id;
  ended.reason = reason;
  ended.detail = "ended while its packages were being installed";
  ended.backend = kind();
  listener->finished({std::move(ended), false});
}

void environment_backend::stop() {
  builder_->stop();
  inner_->stop();
}

} // namespace troupe
