#include "runtime/engine/request_for.hpp"

#include "runtime/model/limit_fields.hpp"
#include "runtime/model/run_fields.hpp"

#include <algorithm>

namespace troupe {

namespace {

// Of a prepared run, only this engine knows the name for messages, the dropped
// nulls, what was looked up on this machine (mounts, interpreter, venv and
// working directory), and its own bounds of files. Everything else is a field
// of the request for it.
constexpr std::size_t local_members = 7;
static_assert(run_fields_of<const prepared_run>() + local_members
              == member_count<prepared_run>());

template <class T>
void hand_on(const T& value, T& into) {
  into = value;
}
template <class T>
void hand_on(const T& value, std::optional<T>& into) {
  into = value;
}
void hand_on(const limits& value, limit_overrides& into) {
  into = all_of(value);
}
void hand_on(std::chrono::steady_clock::time_point until,
             std::chrono::milliseconds& into) {
  using std::chrono::milliseconds;
  if (until != std::chrono::steady_clock::time_point{})
    into = std::max(milliseconds{1},
                    std::chrono::duration_cast<milliseconds>(
                      until - std::chrono::steady_clock::now()));
}
void hand_on(const std::shared_ptr<const sandbox_config>& config,
             config_id& into) {
  if (config)
    into = config->id;
}

} // namespace

run_request request_for(const prepared_run& run) {
  run_request r;
  for_each_row(run_fields, [&](const auto& f) {
    if constexpr (member_of<decltype(f.of), const prepared_run>)
      hand_on(f.of(run), f.of(r));
  });
  return r;
}

} // namespace troupe
