// What happens to sandboxes: timeouts, pauses, connections, ends.
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/sandbox_json.hpp"
#include "net/compat/e2b/wire/network_rules.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>

namespace troupe::net::e2b_facade {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t longest_timeout = std::int64_t{365} * 24 * 3'600;
constexpr seconds usual_connect{300};
constexpr seconds usual_resume{15};
constexpr seconds shortest_refresh{15};
constexpr seconds longest_refresh{3'600};

timestamp now_as_timestamp() {
  return std::chrono::floor<timestamp::duration>(
    std::chrono::system_clock::now());
}

std::string not_found(const sandbox_id& id) {
  return "sandbox '" + id.str() + "' not found";
}

/// A number of seconds of the body, or `usual`; nothing, and answered: it is
/// none.
std::optional<seconds> seconds_of(exchange& ex, std::string_view name,
                                  std::int64_t least, seconds usual) {
  auto body = control_body(ex);
  if (!body)
    return std::nullopt;
  json::reader in{*body};
  const auto said = in.integer(name, least, longest_timeout);
  if (const auto memory = in.boolean("memory"); memory && !*memory)
    in.complain("memory",
                "cannot be false on this server: a pause keeps "
                "processes in memory");
  if (auto bad = in.finish_lenient()) {
    refuse(ex, 400, message_of(*bad));
    return std::nullopt;
  }
  return said ? seconds{*said} : usual;
}

/// Goes on with a sandbox that clients see.
template <class Then>
void with_record(facade& shared, const sandbox_id& id, const exchange_ptr& ex,
                 Then then) {
  shared.sandboxes()->find(ex->who(), id,
                           or_refuse<sandbox_record_ptr>(
                             ex,
                             [then = std::move(then), id](
                               exchange& ex, const sandbox_record_ptr& found) {
                               if (state_of(*found).empty())
                                 return refuse(ex, 404, not_found(id));
                               then(ex.shared_from_this(), found);
                             }));
}

// -- the clock ----------------------------------------------------------------

void end_it(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  // One that is over is not found: the client is told that it ended nothing.
  with_record(shared, id, ex,
              [&shared, id](const exchange_ptr& ex, const sandbox_record_ptr&) {
                shared.sandboxes()->remove(
                  ex->who(), id,
                  or_refuse<void>(ex, [&shared, id](exchange& ex) {
                    shared.known().forget(id);
                    respond_no_content(ex);
                  }));
              });
}

void renew(facade& shared, const sandbox_id& id, const exchange_ptr& ex,
           seconds timeout) {
  shared.sandboxes()->renew(ex->who(), id, timeout,
                            or_refuse<sandbox_record_ptr>(
                              ex, [](exchange& ex, const sandbox_record_ptr&) {
                                respond_no_content(ex);
                              }));
}

void set_timeout(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  const auto timeout = seconds_of(*ex, "timeout", 0, seconds{0});
  if (!timeout)
    return;
  with_record(shared, id, ex,
              [&shared, id, timeout = *timeout](
                const exchange_ptr& ex, const sandbox_record_ptr& found) {
                if (state_of(*found) != "running")
                  return refuse(*ex, 404, not_found(id));
                if (timeout.count() == 0)
                  return end_it(shared, id, ex);
                renew(shared, id, ex, timeout);
              });
}

/// How much longer than now it lives.
milliseconds left_of(const sandbox_record& r) {
  if (!r.ends_at)
    return milliseconds::max();
  return std::chrono::duration_cast<milliseconds>(*r.ends_at
                                                  - now_as_timestamp());
}

void refresh(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  auto duration = seconds_of(*ex, "duration", 0, shortest_refresh);
  if (!duration)
    return;
  duration = std::clamp(*duration, shortest_refresh, longest_refresh);
  with_record(shared, id, ex,
              [&shared, id, duration = *duration](
                const exchange_ptr& ex, const sandbox_record_ptr& found) {
                if (state_of(*found) != "running")
                  return refuse(*ex, 404, not_found(id));
                if (left_of(*found) >= duration)
                  return respond_no_content(*ex);
                renew(shared, id, ex, duration);
              });
}

// -- standing still -----------------------------------------------------------

void pause(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  if (!seconds_of(*ex, "", 0, seconds{0})) // the body says "memory" at most
    return;
  with_record(
    shared, id, ex,
    [&shared, id](const exchange_ptr& ex, const sandbox_record_ptr& found) {
      if (state_of(*found) == "paused")
        return refuse(*ex, 409, "sandbox '" + id.str() + "' is already paused");
      shared.known().meet(id, ex->who());
      shared.sandboxes()->pause(
        ex->who(), id,
        or_refuse<sandbox_record_ptr>(
          ex, [&shared, id](exchange& ex, const sandbox_record_ptr&) {
            shared.known().paused(id, now_as_timestamp());
            respond_no_content(ex);
          }));
    });
}

void answer_connected(facade& shared, exchange& ex,
                      const sandbox_record& record, int status) {
  const auto known = shared.known().meet(record.id, ex.who());
  response r;
  r.status = status;
  r.body = created_json(record, known, shared.tokens());
  ex.answer(std::move(r));
}

/// It runs: its end may only move away.
void extend(facade& shared, const exchange_ptr& ex,
            const sandbox_record_ptr& found, seconds timeout) {
  if (left_of(*found) >= timeout)
    return answer_connected(shared, *ex, *found, 200);
  shared.sandboxes()->renew(
    ex->who(), found->id, timeout,
    or_refuse<sandbox_record_ptr>(
      ex, [&shared](exchange& ex, const sandbox_record_ptr& renewed) {
        answer_connected(shared, ex, *renewed, 200);
      }));
}

void wake(facade& shared, const exchange_ptr& ex, const sandbox_id& id,
          seconds timeout) {
  shared.known().meet(id, ex->who());
  shared.sandboxes()->connect(
    ex->who(), id, timeout,
    or_refuse<sandbox_record_ptr>(
      ex, [&shared, id](exchange& ex, const sandbox_record_ptr& woken) {
        shared.known().resumed(id, now_as_timestamp());
        answer_connected(shared, ex, *woken, 201);
      }));
}

void connect(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  const auto timeout = seconds_of(*ex, "timeout", 1, usual_connect);
  if (!timeout)
    return;
  with_record(shared, id, ex,
              [&shared, id, timeout = *timeout](
                const exchange_ptr& ex, const sandbox_record_ptr& found) {
                if (found->state == sandbox_state::running)
                  return extend(shared, ex, found, timeout);
                wake(shared, ex, id, timeout);
              });
}

void resume(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  const auto timeout = seconds_of(*ex, "timeout", 1, usual_resume);
  if (!timeout)
    return;
  with_record(shared, id, ex,
              [&shared, id, timeout = *timeout](
                const exchange_ptr& ex, const sandbox_record_ptr& found) {
                if (state_of(*found) == "running")
                  return refuse(
                    *ex, 409, "sandbox '" + id.str() + "' is already running");
                wake(shared, ex, id, timeout);
              });
}

/// Replaces all rules: what is not said is as open as the operator allows.
void set_network(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  auto body = control_body(*ex);
  if (!body)
    return;
  json::reader in{*body};
  const auto internet = in.boolean("allow_internet_access");
  auto policy = read_rules(in, internet);
  if (auto bad = in.finish_lenient())
    return refuse(*ex, 400, message_of(*bad));
  json::object said;
  said["network"] = policy ? std::move(*policy) : json::value("public");
  auto change = parse_sandbox_change(said);
  if (!change)
    return refuse(*ex, 400, message_of(change.error()));
  with_record(shared, id, ex,
              [&shared, id, change = std::move(*change)](
                const exchange_ptr& ex, const sandbox_record_ptr& found) {
                if (state_of(*found) != "running")
                  return refuse(*ex, 409,
                                "sandbox '" + id.str() + "' is paused");
                shared.sandboxes()->change(
                  ex->who(), id, change,
                  or_refuse<sandbox_record_ptr>(
                    ex, [](exchange& ex, const sandbox_record_ptr&) {
                      respond_no_content(ex);
                    }));
              });
}

} // namespace

void add_life(control_routes& to) {
  const std::string one = "/sandboxes/{sandbox}";
  to.add_one(method::del, one, end_it);
  to.add_one(method::post, one + "/timeout", set_timeout);
  to.add_one(method::post, one + "/refreshes", refresh);
  to.add_one(method::post, one + "/pause", pause);
  to.add_one(method::post, one + "/connect", connect);
  to.add_one(method::post, "/v2" + one + "/connect", connect);
  to.add_one(method::post, one + "/resume", resume);
  to.add_one(method::put, one + "/network", set_network);
}

} // namespace troupe::net::e2b_facade
