#pragma once

#include "tests/runtime/local/warm/warm_pair.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::test {

/// One of the ways in which a run's process can come to be.
struct way {
  const char* name;
  local_host& (*host)();
  prepared_run (*make)();
  isolation_level level;
  bool has_channel;
};
/// All of them.
std::span<const way> ways();

/// A run at work, until this goes away.
class at_work {
public:
  explicit at_work(const way& w,
                   const std::function<void(prepared_run&)>& change = {});
  ~at_work();

  /// As the host numbers them; pid 1 is the first.
  const std::vector<int>& processes() const { return pids_; }
  std::filesystem::path tool() const;
  local_host& host() { return host_; }

private:
  void find();

  local_host& host_;
  run_id id_;
  std::shared_ptr<watcher> seen_;
  std::vector<int> pids_;
  int tool_ = 0;
};

/// The target of a link, or "".
std::string link_of(const std::filesystem::path& path);
/// The fields of /proc/PID/task/TID/status.
std::map<std::string, std::string> status_of(const std::filesystem::path& task);
/// Whether this process may look at others' descriptors and namespaces.
bool sees_everything();

} // namespace troupe::test
