#include "net/api/shared/run_responses.hpp"

#include "net/api/shared/idempotent_requests.hpp"
#include "net/api/shared/run_json.hpp"
#include "runtime/engine/idempotency.hpp"
#include "runtime/json/json.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <mutex>
#include <utility>

namespace troupe::net {

namespace {

std::string place_of(const run_id& id) {
  return "/v1/runs/" + id.str();
}

} // namespace

response head_of(const run_record& record, const run_id& asked,
                 std::string preference) {
  response r;
  // Not this request's run: that of an earlier one with the same key.
  if (record.id != asked)
    mark_replayed_run(r, record.id);
  else
    r.fields.emplace_back("location", place_of(record.id));
  r.fields.emplace_back("preference-applied", std::move(preference));
  return r;
}

void answer_accepted(exchange& ex, const run_record& record,
                     const run_id& asked, std::string preference) {
  auto r = head_of(record, asked, std::move(preference));
  r.status = 202;
  r.body = to_json_text(record);
  ex.answer(std::move(r));
}

void answer_output(exchange& ex, const run_record& record,
                   const run_result& said) {
  json::object_writer out;
  out.text("id", record.id.str())
    .text("phase", to_string(record.phase))
    .text("stdout", said.stdout_text)
    .text("stderr", said.stderr_text)
    .boolean("stdout_truncated", said.stdout_truncated)
    .boolean("stderr_truncated", said.stderr_truncated);
  ex.answer_json(out.finish());
}

namespace {

/// The events of a run up to a moment, by any threads.
class output_so_far {
public:
  bool take(const run_event& e) {
    std::lock_guard lock{mutex_};
    if (closed_)
      return false;
    // Else the first ones made room for others.
    if (std::exchange(first_, false))
      said_.stdout_truncated = said_.stderr_truncated
        = e.kind != run_event_kind::accepted;
    if (e.kind == run_event_kind::out)
      said_.stdout_text += e.data;
    else if (e.kind == run_event_kind::err)
      said_.stderr_text += e.data;
    return true;
  }
  run_result close() {
    std::lock_guard lock{mutex_};
    closed_ = true;
    said_.stdout_text = json::repair_utf8(said_.stdout_text);
    said_.stderr_text = json::repair_utf8(said_.stderr_text);
    return std::move(said_);
  }

private:
  std::mutex mutex_;
  run_result said_;
  bool first_ = true;
  bool closed_ = false;
};

} // namespace

void answer_output_so_far(engine& core, const exchange_ptr& ex,
                          const run_record& record) {
  auto seen = std::make_shared<output_so_far>();
  core.subscribe(
    ex->who(), record.id, 0,
    [seen](const run_event& e) { return seen->take(e); },
    [ex](result<void> accepted) {
      if (!accepted)
        ex->fail(accepted.error());
    });
  if (!ex->answered())
    answer_output(*ex, record, seen->close());
}

void answer_result(exchange& ex, const run_result& result, bool replayed) {
  response r;
  r.body = troupe::to_json_text(result);
  if (replayed)
    mark_replayed_run(r, result.id);
  ex.answer(std::move(r));
}

void fail_run(engine& core, const exchange_ptr& ex, const error& why,
              const run_id& id) {
  if (is_key_of_another_request(why)) {
    refuse_reused_key(*ex);
    return;
  }
  // These three may befall a run; everything else is said before it is one.
  if (why.code != ec::unavailable && why.code != ec::timeout
      && why.code != ec::internal) {
    ex->fail(why);
    return;
  }
  core.find_run(ex->who(), id, [ex, why, id](result<run_record> found) {
    ex->fail(why, found ? id.str() : std::string{});
  });
}

void mark_replayed_run(response& r, const run_id& first) {
  mark_replayed(r);
  r.fields.emplace_back("location", place_of(first));
}

} // namespace troupe::net
