#pragma once

#include "runtime/packages/backend_with_packages.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"
#include "tests/support/temporary_directory.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace troupe::test {

/// Packages of our own making, and the backends that install them: nothing
/// here comes from outside.
class package_house {
public:
  package_house();
  ~package_house();

  /// A wheel with a module `tiny` that has this VALUE, and a .pth file.
  void put_wheel(const std::string& value, const std::string& version = "1.2");
  /// A tarball of an npm package `tiny-thing` that exports this value.
  void put_tarball(const std::string& value);

  /// Both share what was built; installers start cold.
  run_outcome cold(prepared_run run) { return run_on(*cold_, std::move(run)); }
  run_outcome warm(prepared_run run) { return run_on(*warm_, std::move(run)); }
  /// Builds once more what is there.
  void renew(const prepared_run& like);

  const std::filesystem::path& shared() const { return shared_; }

private:
  run_outcome run_on(backend& by, prepared_run run);

  tests::temporary_directory dir_;
  std::filesystem::path shared_;
  environment_options options_;
  std::shared_ptr<environment_builder> builder_;
  std::shared_ptr<environment_backend> cold_;
  std::shared_ptr<environment_backend> warm_;
};

/// A Python tool that wants `tiny`, a JavaScript one that wants `tiny-thing`.
prepared_run with_wheel(std::string source);
prepared_run with_tarball(std::string source);

} // namespace troupe::test
