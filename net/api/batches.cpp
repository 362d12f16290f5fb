#include "net/api/routes.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_headers.hpp"
#include "net/api/shared/run_stream.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <deque>
#include <mutex>
#include <set>

namespace troupe::net {

namespace {

using result_ptr = std::shared_ptr<const run_result>;

/// Many runs behind one request: so many at once, answered in the order in
/// which they end, one entry each. One that fails is nobody else's business.
/// An end that the reader has no room for waits, and keeps its place among
/// those that may be under way: whoever reads slowly starts less.
class batch : public std::enable_shared_from_this<batch> {
public:
  batch(engine& core, exchange_ptr ex, stream_format format,
        std::vector<result<run_request>> items, std::size_t at_once)
      : core_{core}, ex_{std::move(ex)}, format_{format},
        items_{std::move(items)}, at_once_{at_once} {}

  void start() {
    ex_->on_disconnect([weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->stop();
    });
    open_stream(*ex_, format_);
    go_on();
  }

private:
  struct outcome {
    std::size_t index = 0;
    run_id id;
    result<result_ptr> done;
  };

  /// Tells what has ended and starts what may be started. Runs that end at once
  /// come back in here: a flag keeps this a loop instead of a recursion.
  void go_on() {
    std::unique_lock lock{mutex_};
    if (busy_)
      return;
    busy_ = true;
    while (!stopped_ && (tell(lock) || start_one(lock))) {
    }
    busy_ = false;
  }

  bool is_over() const {
    return next_ == items_.size() && running_.empty() && ended_.empty();
  }

  bool tell(std::unique_lock<std::mutex>& lock) {
    if (waiting_ || over_ || (ended_.empty() && !is_over()))
      return false;
    if (!ex_->has_room()) {
      waiting_ = true;
      ex_->when_drained([self = shared_from_this()] { self->drained(); });
      return false;
    }
    if (is_over()) {
      over_ = true;
      lock.unlock();
      finish();
      lock.lock();
      return false;
    }
    auto one = std::move(ended_.front());
    ended_.pop_front();
    bool good = one.done && (*one.done)->status == run_status::success;
    ++(good ? succeeded_ : failed_);
    lock.unlock();
    ex_->write(frame_entry(format_, "item", text_of(one)));
    lock.lock();
    return true;
  }

  bool start_one(std::unique_lock<std::mutex>& lock) {
    if (next_ == items_.size() || running_.size() + ended_.size() >= at_once_)
      return false;
    auto index = next_++;
    auto& item = items_[index];
    if (!item) {
      ended_.push_back({index, {}, std::move(item.error())});
      return true;
    }
    auto run = std::move(*item);
    auto id = run.id;
    running_.insert(id);
    lock.unlock();
    core_.submit(
      ex_->who(), std::move(run),
      [self = shared_from_this(), index, id](result<result_ptr> done) {
        self->ended(index, id, std::move(done));
      });
    lock.lock();
    return true;
  }

  void ended(std::size_t index, const run_id& id, result<result_ptr> done) {
    {
      std::lock_guard lock{mutex_};
      running_.erase(id);
      ended_.push_back({index, id, std::move(done)});
    }
    go_on();
  }

  void drained() {
    {
      std::lock_guard lock{mutex_};
      waiting_ = false;
    }
    go_on();
  }

  static std::string text_of(const outcome& one) {
    json::object_writer out;
    out.text("type", "item")
      .number("index", one.index)
      .text_or_null("run_id", one.id.str())
      .raw("result", one.done ? troupe::to_json_text(**one.done) : "null")
      .raw("error", one.done ? "null" : to_json_text(one.done.error()));
    return out.finish();
  }

  void finish() {
    json::object_writer out;
    out.text("type", "end")
      .number("items", items_.size())
      .number("succeeded", succeeded_)
      .number("failed", failed_);
    ex_->write(frame_entry(format_, "end", out.finish()));
    ex_->finish();
  }

  /// The client left: nothing more is started, what runs is cancelled.
  void stop() {
    std::set<run_id> running;
    {
      std::lock_guard lock{mutex_};
      stopped_ = true;
      running = running_;
    }
    for (const auto& id : running)
      core_.cancel(ex_->who(), id, [](result<run_record>) {});
  }

  engine& core_;
  exchange_ptr ex_;
  const stream_format format_;
  std::mutex mutex_;
  std::vector<result<run_request>> items_;
  const std::size_t at_once_;
  std::size_t next_ = 0;
  std::size_t succeeded_ = 0;
  std::size_t failed_ = 0;
  std::set<run_id> running_;
  std::deque<outcome> ended_; // not yet told
  bool waiting_ = false;      // for the reader
  bool busy_ = false;
  bool stopped_ = false;
  bool over_ = false;
};

/// An item's complaints, below the item.
error below_item(error e, std::size_t index) {
  for (auto& f : e.fields)
    f.pointer = json::child("/items", index) + f.pointer;
  return e;
}

result<run_request> read_item(exchange& ex, const json::value& item,
                              std::size_t index) {
  auto* o = item.if_object();
  if (!o)
    return bad_field(json::child("/items", index), "must be an object");
  auto run = parse_run_request(*o);
  if (!run)
    return below_item(run.error(), index);
  if (run->id.empty())
    run->id = run_id::make();
  run->organization = ex.who().organization;
  run->user = ex.who().user;
  if (!run->idempotency_key.empty())
    run->idempotency_key += ':' + std::to_string(index);
  return run;
}

void create(engine& core, const api_options& options, const exchange_ptr& ex) {
  auto body = idempotency_key_of(*ex) ? body_of(*ex) : std::nullopt;
  if (!body)
    return;
  json::reader in{*body};
  auto* list = in.member_array("items");
  if (!list && !in.has("items"))
    in.complain("items", "is missing", "send a list of run requests");
  if (list && (list->empty() || list->size() > options.batch_items))
    in.complain("items",
                "must have 1 to " + std::to_string(options.batch_items)
                  + " items");
  auto most = static_cast<std::int64_t>(options.batch_at_once);
  auto at_once = in.integer("max_concurrency", 1, most).value_or(most);
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  run_request common; // what the header says holds for every item
  if (!read_run_fields(*ex, common))
    return;
  std::vector<result<run_request>> items;
  for (std::size_t i = 0; i < list->size(); ++i) {
    items.push_back(read_item(*ex, (*list)[i], i));
    auto& item = items.back();
    if (item && !common.idempotency_key.empty())
      item->idempotency_key = common.idempotency_key + ':' + std::to_string(i);
    if (item && item->traceparent.empty())
      item->traceparent = common.traceparent;
  }
  auto format = wanted_stream(ex->in()).value_or(stream_format::ndjson);
  std::make_shared<batch>(core, ex, format, std::move(items),
                          static_cast<std::size_t>(at_once))
    ->start();
}

} // namespace

void add_batches(router& routes, engine& core, const api_options& options) {
  auto rules = needing(scope::run);
  rules.body_limit = options.run_body_limit;
  routes.add(
    method::post, "/v1/batches",
    [&core, options](exchange_ptr ex) { create(core, options, ex); }, rules);
}

} // namespace troupe::net
