#include "runtime/sandboxes/provider_run.hpp"

#include "runtime/base/trace_context.hpp"
#include "runtime/json/json.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/output_text.hpp"
#include "runtime/runner/read_answer.hpp"
#include "runtime/runner/request.hpp"

namespace troupe {

using steady = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;

namespace {

// Base64 grows by a third; the frame has parts beside the value.
constexpr std::size_t frame_slack_bytes = 64u << 10;

std::size_t frame_limit(const prepared_run& run) {
  auto payload = run.limits.result_bytes + run.agent_state_json.size()
    + script::max_blob_bytes(run);
  return static_cast<std::size_t>(payload) * 4 / 3 * 2 + frame_slack_bytes;
}

} // namespace

provider_run::provider_run(prepared_run_ptr run, run_observer_ptr observer,
                           const sandbox_provider& where, std::string key)
    : run_{std::move(run)}, observer_{std::move(observer)},
      where_{where.backend()}, secrets_{where.secrets()},
      provider_name_{where.name()}, key_{std::move(key)},
      traceparent_{known_or_new_trace(run_->traceparent)},
      stdout_{key_, frame_limit(*run_)}, created_{steady::now()} {}

call_scope provider_run::scope(std::chrono::milliseconds limit) const {
  auto deadline = steady::now() + limit;
  if (run_->deadline != steady::time_point{})
    deadline = std::min(deadline, run_->deadline);
  return {deadline, abort_, traceparent_};
}

void provider_run::cancel(exit_reason why) {
  cancel_reason_ = why;
  abort_->cancel();
}

void provider_run::hand_over() {
  handed_over_ = true;
  handed_over_at_ = steady::now();
}

void provider_run::begun() {
  if (!std::exchange(begun_, true))
    observer_->started();
}

void provider_run::keep(output_stream from, std::string_view bytes) {
  auto& text = from == output_stream::out ? out_ : err_;
  auto& count = from == output_stream::out ? out_bytes_ : err_bytes_;
  count += bytes.size();
  auto room = run_->limits.output_bytes
    - std::min<std::uint64_t>(text.size(), run_->limits.output_bytes);
  auto kept = bytes.substr(0, static_cast<std::size_t>(room));
  text += kept;
  if (!kept.empty())
    observer_->output(from, kept);
}

void provider_run::take_output(output_stream from, std::string_view bytes) {
  begun();
  if (from == output_stream::out)
    keep(from, stdout_.feed(bytes));
  else
    keep(from, bytes);
}

run_result provider_run::result_so_far() const {
  run_result r;
  r.id = run_->id;
  r.backend = where_;
  r.stdout_truncated = out_bytes_ > out_.size();
  r.stderr_truncated = err_bytes_ > err_.size();
  set_output(r, out_, err_);
  r.usage.stdout_bytes = out_bytes_;
  r.usage.stderr_bytes = err_bytes_;
  auto now = steady::now();
  if (handed_over_) {
    r.usage.wall = duration_cast<microseconds>(now - handed_over_at_);
    r.stages.push_back(
      {"prepare", duration_cast<microseconds>(handed_over_at_ - created_)});
    r.stages.push_back({"run", r.usage.wall});
  }
  auto used = earlier_runs_ > 0;
  r.isolation.level
    = used ? isolation_level::standard : isolation_level::strict;
  r.isolation.layers.push_back(
    {"provider_sandbox", layer_state::enforced,
     (used ? "shared with runs of the same organization and config at "
           : "a sandbox of its own at ")
       + provider_name_});
  if (used)
    r.notes.push_back("the sandbox was used before, by "
                      + std::to_string(earlier_runs_)
                      + " runs of the same organization and config");
  r.notes.push_back("cpu and memory are bounded by " + provider_name_
                    + "'s sandbox size, and not measured");
  return r;
}

run_outcome provider_run::finish(const process_end& how) {
  begun();
  keep(output_stream::out, stdout_.finish());
  auto r = result_so_far();
  r.reason = how.signaled ? exit_reason::signaled : exit_reason::exited;
  r.exit_code = how.exit_code;
  r.signal = how.signal;
  r.detail = how.detail;
  if (run_->kind == run_kind::command) {
    r.status = !how.signaled && how.exit_code == 0 ? run_status::success
                                                   : run_status::error;
    return {std::move(r), true};
  }
  std::optional<frame::message> answer;
  if (stdout_.too_large()) {
    r.reason = exit_reason::output_limit;
    r.detail = "the return value is over result_bytes";
  } else if (!stdout_.frame().empty()) {
    auto read
      = frame::read_keyed_frame(stdout_.frame(), key_, frame_limit(*run_));
    if (read)
      answer = std::move(read->frame);
  }
  script::interpret_message(*run_, std::move(answer), r);
  return {std::move(r), true};
}

run_outcome provider_run::fail_with(error why, bool may_have_begun) {
  if (may_have_begun)
    begun();
  // Before the tool began a timeout is the provider's; after it, the tool's.
  auto late = begun_ && why.code == ec::timeout;
  // Whatever a provider cannot find or finds twice, another has its own.
  if (why.code == ec::not_found || (!begun_ && why.code == ec::conflict))
    why.code = ec::unavailable;
  if (!is_cancelled() && !late) {
    for (const auto& each : secrets_)
      mask_secret(why.text, each);
    for (const auto& [name, value] : run_->env)
      mask_secret(why.text, value);
    return {std::move(why).within(provider_name_), begun_};
  }
  keep(output_stream::out, stdout_.finish());
  auto r = result_so_far();
  r.reason = is_cancelled() ? cancel_reason_ : exit_reason::wall_timeout;
  r.detail = late ? "ended after its wall time" : "called off";
  if (run_->kind != run_kind::command)
    script::interpret(*run_, {}, r);
  return {std::move(r), begun_};
}

} // namespace troupe
