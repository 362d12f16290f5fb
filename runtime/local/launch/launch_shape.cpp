#include "runtime/local/launch/launch_shape.hpp"

namespace troupe::zygote {

namespace {

/// Length-prefixed, so that no value can imitate two.
void add(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

void add(std::string& key, std::uint64_t number) {
  key += std::to_string(number);
  key += ';';
}

} // namespace

std::string slot_key(const launch& what) {
  std::string key;
  add(key, what.run->organization.str());
  return key + shape_key(what);
}

std::string shape_key(const launch& what) {
  const auto& run = *what.run;
  std::string key;
  add(key, static_cast<std::uint64_t>(run.isolation));
  // The bounds of the group, the scratch and the rlimits. Wall, output and
  // result are the engine's to keep; cpu comes with every run.
  const auto& l = run.limits;
  for (auto bound :
       {l.memory_bytes, l.processes, l.open_files, l.disk_bytes, l.inodes})
    add(key, bound);
  add(key, static_cast<std::uint64_t>(run.network.mode));
  for (const auto& host : run.network.allow)
    add(key, host);
  add(key, what.working_dir);
  for (const auto& path : what.shown) {
    add(key, path.host);
    add(key, path.inside);
    add(key, path.writable ? 1u : 0u);
  }
  return key;
}

} // namespace troupe::zygote
