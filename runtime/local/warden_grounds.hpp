#pragma once

#include "runtime/local/cold_carrier.hpp"
#include "runtime/local/zygote/ground.hpp"

#include <memory>

namespace troupe {

/// The warden as the maker of grounds and interpreters, asked through the
/// carrier that keeps it alive.
class warden_grounds final : public zygote::grounds {
public:
  explicit warden_grounds(std::weak_ptr<cold_carrier> keeper)
      : keeper_{std::move(keeper)} {}

  void prepare(const launch& like,
               std::function<void(result<zygote::ground>)> done) override;
  void release(std::uint64_t ticket) override;
  void hatch(std::vector<std::string> argv, unique_fd control,
             std::function<void(error)> failed) override;

private:
  std::weak_ptr<cold_carrier> keeper_;
};

} // namespace troupe
