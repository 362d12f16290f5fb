#pragma once

#include "runtime/local/launch/cold_launcher.hpp"
#include "runtime/local/warm/slot_sandbox.hpp"
#include "runtime/local/warm/warm_launcher.hpp"

#include <memory>

namespace troupe {

/// The warden as the maker of slot_provisioner and interpreters, asked through
/// the carrier that keeps it alive.
class warden_provisioner final : public zygote::slot_provisioner {
public:
  explicit warden_provisioner(std::weak_ptr<cold_launcher> keeper)
      : keeper_{std::move(keeper)} {}

  void prepare(const launch& like,
               std::function<void(result<zygote::slot_sandbox>)> done) override;
  void release(std::uint64_t ticket, std::function<void()> gone) override;
  std::uint64_t spawn_interpreter(std::vector<std::string> argv,
                                  unique_fd control,
                                  std::function<void(error)> failed) override;
  void kill_interpreter(std::uint64_t number) override;

private:
  std::weak_ptr<cold_launcher> keeper_;
};

/// Warm interpreters started by that warden; null when their files cannot be
/// written to `directory`. `which`: of what family, for whom, and from where.
std::unique_ptr<zygote::warm_launcher> make_warm_launcher(
  boost::asio::any_io_executor strand, const zygote::zygote_options& options,
  zygote::warm_launcher::paths which, const std::string& directory,
  std::string runners, std::weak_ptr<cold_launcher> keeper);

} // namespace troupe
