#include "net/api/run_responses.hpp"

#include "net/api/idempotent_requests.hpp"
#include "net/api/run_json.hpp"
#include "runtime/engine/idempotency.hpp"
#include "runtime/model/codec/codec.hpp"

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
