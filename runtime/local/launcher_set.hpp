#pragma once

#include "runtime/local/interpreters.hpp"
#include "runtime/local/launch/cold_launcher.hpp"
#include "runtime/local/launch/prestarted_launcher.hpp"
#include "runtime/local/options.hpp"
#include "runtime/local/warm/warm_launcher.hpp"

#include <memory>
#include <vector>

namespace troupe {

/// All the ways of this backend to get a process, the fastest first, the cold
/// one last. On the strand of the backend.
class launcher_set : public std::enable_shared_from_this<launcher_set> {
public:
  launcher_set(boost::asio::any_io_executor strand,
               const local_options& options, const warden::instance& instance);

  cold_launcher& cold() { return *cold_; }
  /// As soon as there is a warden to start interpreters; once. Without them
  /// every run starts cold.
  void warm_up(const interpreters& found, const std::string& runners);
  void add(std::unique_ptr<launcher> faster);
  launcher& choose(const launch& what);
  void stop();

  zygote::slot_counts slots(zygote::family of) const;
  zygote::slot_counts slots_of_venvs() const;
  ready_counts prestarted_nodes() const;

private:
  zygote::warm_launcher* add_warm(zygote::interpreter_paths which,
                                  const std::string& runners);

  boost::asio::any_io_executor strand_;
  const local_options& options_;
  const warden::instance& instance_;
  std::shared_ptr<cold_launcher> cold_;
  std::vector<std::unique_ptr<launcher>> faster_;
  zygote::warm_launcher* python_ = nullptr; // of `faster_`, as those below
  zygote::warm_launcher* venvs_ = nullptr;  // for runs with packages
  zygote::warm_launcher* node_ = nullptr;
  prestarted_launcher* prestarted_node_ = nullptr; // where that cannot be
};

} // namespace troupe
