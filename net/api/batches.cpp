#include "net/api/input.hpp"
#include "net/api/routes.hpp"
#include "net/api/run_text.hpp"
#include "net/api/runs.hpp"
#include "net/api/writer.hpp"
#include "runtime/model/codec.hpp"

#include <mutex>
#include <set>

namespace troupe::net {

namespace {

using result_ptr = std::shared_ptr<const run_result>;

/// Many runs behind one request: so many at once, answered in the order in
/// which they end, one line each. One that fails is nobody else's business.
class batch : public std::enable_shared_from_this<batch> {
public:
  batch(engine& core, exchange_ptr ex, std::vector<result<run_request>> items,
        std::size_t at_once)
      : core_{core}, ex_{std::move(ex)}, items_{std::move(items)}, at_once_{
                                                                     at_once} {}

  void start() {
    response head;
    head.type = stream_type(stream_format::ndjson);
    ex_->on_gone([weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->stop();
    });
    ex_->open(std::move(head));
    go_on();
  }

private:
  /// Starts what may be started. Runs that end at once come back in here: a
  /// flag keeps this a loop instead of a recursion.
  void go_on() {
    std::unique_lock lock{mutex_};
    if (starting_)
      return;
    starting_ = true;
    while (!stopped_ && next_ < items_.size() && running_.size() < at_once_) {
      auto index = next_++;
      auto& item = items_[index];
      if (!item) {
        auto why = item.error();
        auto line = line_of(index, {}, nullptr, &why);
        ++failed_;
        lock.unlock();
        ex_->write(line);
        lock.lock();
        continue;
      }
      auto run = std::move(*item);
      auto id = run.id;
      running_.insert(id);
      lock.unlock();
      core_.submit(
        ex_->who(), std::move(run),
        [self = shared_from_this(), index, id](result<result_ptr> done) {
          self->ended(index, id, done);
        });
      lock.lock();
    }
    starting_ = false;
    bool over = next_ == items_.size() && running_.empty();
    if (over && !std::exchange(over_, true))
      finish();
  }

  void ended(std::size_t index, const run_id& id, result<result_ptr>& done) {
    auto why = done ? error{} : done.error();
    auto line
      = line_of(index, id, done ? done->get() : nullptr, done ? nullptr : &why);
    {
      std::lock_guard lock{mutex_};
      running_.erase(id);
      bool good = done && (*done)->status == run_status::success;
      ++(good ? succeeded_ : failed_);
    }
    ex_->write(line);
    go_on();
  }

  static std::string line_of(std::size_t index, const run_id& id,
                             const run_result* r, const error* e) {
    object_writer out;
    out.text("type", "item")
      .number("index", index)
      .text_or_null("run_id", id.str())
      .raw("result", r ? troupe::to_json_text(*r) : "null")
      .raw("error", e ? to_json_text(*e) : "null");
    return out.finish() + '\n';
  }

  void finish() {
    object_writer out;
    out.text("type", "end")
      .number("items", items_.size())
      .number("succeeded", succeeded_)
      .number("failed", failed_);
    ex_->write(out.finish() + '\n');
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
  std::mutex mutex_;
  std::vector<result<run_request>> items_;
  const std::size_t at_once_;
  std::size_t next_ = 0;
  std::size_t succeeded_ = 0;
  std::size_t failed_ = 0;
  std::set<run_id> running_;
  bool starting_ = false;
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
  auto body = body_of(*ex);
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
  }
  std::make_shared<batch>(core, ex, std::move(items),
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
