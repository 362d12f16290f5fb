#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/packages/builder.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The local backend with packages: gives each run the environment that its
/// requirements ask for, building it first where needed, and the directory
/// that its config shares. A run without either passes straight through.
class environment_backend final : public backend {
public:
  environment_backend(std::shared_ptr<backend> inner,
                      std::shared_ptr<environment_builder> builder);
  ~environment_backend() override;

  backend_kind kind() const override { return inner_->kind(); }
  backend_name name() const override { return inner_->name(); }
  void start(prepared_run_ptr run, run_observer_ptr observer) override;
  void cancel(const run_id& id, exit_reason reason) override;
  result<void> ready() const override { return inner_->ready(); }
  void stop() override;

  environment_builder& environments() { return *builder_; }

private:
  class waiting_runs;

  std::shared_ptr<backend> inner_;
  std::shared_ptr<environment_builder> builder_;
  std::shared_ptr<waiting_runs> waiting_;
};

/// What these packages are built for on this machine.
environment_spec spec_of(const organization_id& organization,
                         std::vector<pip_requirement> pip,
                         std::vector<npm_requirement> npm,
                         const environment_options& options);

/// What the run's local config and requirements ask for: mounts, working
/// directory, a venv of the user's own, and the packages still to be installed.
struct local_requirements {
  environment_spec packages;
  std::vector<bind_mount> mounts;
  std::string working_dir;
  std::string venv; // its directory, "": none
};
result<local_requirements> requirements_of(const prepared_run& run,
                                           const environment_options& options);

} // namespace troupe
