// What happens to living sandboxes: changed, paused, resumed, watched.
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/pulled_stream.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_stream.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <limits>

namespace troupe::net {

namespace {

constexpr std::size_t events_at_once = 64;
constexpr std::size_t most_events = 1'000;

std::string event_text(const sandbox_event& e) {
  return json::to_text(to_json(e));
}

/// A sandbox's events on their way to one client: those that are kept, then
/// those that come, until it is over.
class sandbox_event_stream final : public pulled_stream {
public:
  sandbox_event_stream(exchange_ptr ex, sandbox_events_ptr events,
                       stream_format format, std::uint64_t after)
      : pulled_stream{std::move(ex), format}, events_{std::move(events)},
        after_{after} {}

private:
  bool step() override {
    const bool last = events_->over(); // before what there is is read
    const auto some = events_->read(after_, events_at_once);
    for (const auto& each : some) {
      after_ = each.number;
      write(to_string(each.what), event_text(each), each.number);
    }
    if (!some.empty())
      return true;
    if (last) {
      end("end", R"({"type":"end"})");
      return false;
    }
    auto self
      = std::static_pointer_cast<sandbox_event_stream>(shared_from_this());
    auto waits = events_->when_more(after_, [self] { self->go_on(); });
    if (!waits)
      give_up(waits.error());
    return false;
  }

  const sandbox_events_ptr events_;
  std::uint64_t after_;
};

struct event_wish {
  std::uint64_t after = 0;
  bool follow = false;
};

std::optional<event_wish> read_event_wish(exchange& ex) {
  query_reader query{ex.in().query};
  event_wish wish;
  wish.after = static_cast<std::uint64_t>(
    query.integer("after", 0, std::numeric_limits<std::int64_t>::max())
      .value_or(0));
  // Who accepts a stream wants one.
  wish.follow
    = query.boolean("follow").value_or(wanted_stream(ex.in()).has_value());
  if (auto bad = query.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return wish;
}

void answer_events(exchange& ex, const sandbox_events& events,
                   std::uint64_t after) {
  const auto found = events.read(after, most_events);
  json::object_writer out;
  out.raw("items", json::array_of(found, event_text))
    .number("next", found.empty() ? after : found.back().number);
  ex.answer_json(out.finish());
}

void read_events(sandbox_engine& engine, const sandbox_id& id,
                 const exchange_ptr& ex) {
  auto wish = read_event_wish(*ex);
  if (!wish)
    return;
  engine.events(
    ex->who(), id,
    or_fail<sandbox_events_ptr>(
      ex, [wish = *wish](exchange& ex, const sandbox_events_ptr& events) {
        if (!wish.follow)
          return answer_events(ex, *events, wish.after);
        auto format = wanted_stream(ex.in()).value_or(stream_format::ndjson);
        std::make_shared<sandbox_event_stream>(ex.shared_from_this(), events,
                                               format, wish.after)
          ->start();
      }));
}

void connect_sandbox(sandbox_engine& engine, const sandbox_id& id,
                     const exchange_ptr& ex) {
  auto body = optional_body_of(*ex);
  if (!body)
    return;
  auto timeout = parse_connection(*body);
  if (!timeout) {
    ex->fail(timeout.error());
    return;
  }
  engine.connect(ex->who(), id, *timeout, record_or_fail(ex));
}

void change_sandbox(sandbox_engine& engine, const sandbox_id& id,
                    const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  auto change = parse_sandbox_change(*body);
  if (!change) {
    ex->fail(change.error());
    return;
  }
  engine.change(ex->who(), id, std::move(*change), record_or_fail(ex));
}

} // namespace

void add_sandbox_life(router& routes, const api_options& options,
                      const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  const auto plain = needing(scope::run, body_rule::none);
  all.add(method::patch, "", change_sandbox, needing(scope::run));
  all.add(method::post, "/connect", connect_sandbox, needing(scope::run));
  all.add(
    method::post, "/pause",
    [](sandbox_engine& engine, const sandbox_id& id, const exchange_ptr& ex) {
      engine.pause(ex->who(), id, record_or_fail(ex));
    },
    plain);
  all.add(
    method::post, "/resume",
    [](sandbox_engine& engine, const sandbox_id& id, const exchange_ptr& ex) {
      engine.resume(ex->who(), id, record_or_fail(ex));
    },
    plain);
  all.add(method::get, "/events", read_events, with_query());
}

} // namespace troupe::net
