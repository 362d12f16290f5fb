// filesystem.Filesystem: changes in folders, as a stream or to be fetched.
#include "net/api/shared/pulled_bytes.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/compat/e2b/wire/paths.hpp"
#include "net/compat/e2b/wire/watch_events.hpp"
#include "runtime/engine/sandbox_trees.hpp"
#include "runtime/json/writer.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_call = 64u << 10;
constexpr std::size_t most_watchers = 1'000; // to be fetched, of all sandboxes

/// {"keepalive":{}} in its envelope: 16 bytes behind five.
constexpr std::string_view keepalive{"\0\0\0\0\x10{\"keepalive\":{}}", 5 + 16};

struct watch_wish {
  std::string path;
  bool deep = false;
};

result<watch_wish> read_wish(const json::object& body) {
  message_reader message{body};
  auto path = absolute_path(message.text("path"));
  const bool deep = message.boolean("recursive").value_or(false);
  if (message.bad())
    return bad_request(message.bad()->message);
  if (!path)
    return path.error();
  return watch_wish{std::move(*path), deep};
}

rpc_error why_not_watched(const sandbox_error& why, const std::string& path) {
  if (why.code == ec::not_found)
    return {rpc_code::not_found, "path " + path + " not found"};
  if (why.code == ec::invalid_request && why.problem == sandbox_problem::none)
    return {rpc_code::invalid_argument,
            "path is not a directory: " + path + ": " + message_of(why)};
  return rpc_error_of(why);
}

/// Null, and answered, where files cannot be watched.
sandbox_trees* trees_of(facade& shared, exchange& ex, rpc_kind kind) {
  auto* trees = shared.sandboxes()->trees();
  if (trees)
    return trees;
  const rpc_error why{rpc_code::unimplemented,
                      "files cannot be watched at this place"};
  if (kind == rpc_kind::unary)
    fail_rpc(ex, why);
  else
    fail_stream(ex, why);
  return nullptr;
}

// -- a stream -----------------------------------------------------------------

/// Changes as envelopes, until the client goes away.
class watch_stream final : public pulled_bytes {
public:
  watch_stream(exchange_ptr ex, sandbox_watch_ptr watch, std::string path)
      : pulled_bytes{std::move(ex)}, watch_{std::move(watch)}, events_{
                                                                 std::move(
                                                                   path)} {}

  void bound(std::chrono::milliseconds time) {
    on().after(time, [weak = weak_from_this()] {
      if (auto self = std::static_pointer_cast<watch_stream>(weak.lock())) {
        self->out_of_time_ = true;
        self->go_on();
      }
    });
  }

private:
  void open(exchange& ex) override {
    response head;
    head.type = "application/connect+json";
    ex.open(std::move(head), keepalive);
  }
  void left() override { watch_->close(); }

  bool fail(const rpc_error& why) {
    watch_->close();
    put(end_envelope(why));
    close();
    return false;
  }

  bool step() override {
    if (!std::exchange(begun_, true)) {
      put(envelope_of(R"({"start":{}})"));
      return true;
    }
    const auto over = watch_->over(); // before what there is to take
    const auto some = events_.told(watch_->take());
    for (const auto& each : some) {
      json::object_writer out;
      out.raw("filesystem", each);
      put(envelope_of(out.finish()));
    }
    if (events_.overflowed())
      return fail(
        {rpc_code::resource_exhausted, "there were too many changes"});
    if (!some.empty())
      return true;
    if (over) {
      cut();
      return false;
    }
    if (out_of_time_)
      return fail({rpc_code::deadline_exceeded, "context deadline exceeded"});
    auto self = std::static_pointer_cast<watch_stream>(shared_from_this());
    watch_->when_more([self] { self->go_on(); });
    return false;
  }

  const sandbox_watch_ptr watch_;
  watch_events events_; // used by the thread that is busy
  bool begun_ = false;
  std::atomic<bool> out_of_time_{false};
};

void watch(facade& shared, const exchange_ptr& ex, const visit& in) {
  const auto body = message_of(*ex, rpc_kind::stream);
  auto* trees = body ? trees_of(shared, *ex, rpc_kind::stream) : nullptr;
  if (!trees)
    return;
  auto wish = read_wish(*body);
  if (!wish)
    return fail_stream(*ex,
                       {rpc_code::invalid_argument, message_of(wish.error())});
  auto begun = [ex, in, path = wish->path](
                 const sandbox_result<sandbox_watch_ptr>& watch) {
    if (!watch && is_about_sandbox(watch.error()))
      return refuse_gone(*ex, in.id.str());
    if (!watch)
      return fail_stream(*ex, why_not_watched(watch.error(), path));
    auto stream = std::make_shared<watch_stream>(ex, *watch, path);
    if (const auto time = time_of_call(ex->in()))
      stream->bound(*time);
    stream->start();
  };
  trees->watch(in.who, in.id, wish->path, wish->deep, std::move(begun));
}

// -- to be fetched ------------------------------------------------------------

/// Watchers of clients that fetch what has changed. Thread-safe.
class watchers {
public:
  /// Its id; nothing: there are as many as there may be.
  std::optional<std::string> put(const sandbox_id& in, sandbox_watch_ptr watch,
                                 const std::string& path) {
    std::lock_guard lock{mutex_};
    std::erase_if(all_,
                  [](const auto& each) { return each.second.watch->over(); });
    if (all_.size() >= most_watchers)
      return std::nullopt;
    auto id = sandbox_id::make().str(); // as unguessable as theirs
    all_.emplace(id, one{in, std::move(watch), watch_events{path}});
    return id;
  }
  bool remove(const sandbox_id& in, const std::string& id) {
    std::lock_guard lock{mutex_};
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.in != in)
      return false;
    found->second.watch->close();
    all_.erase(found);
    return true;
  }
  struct fetched {
    std::vector<std::string> events;
    bool overflowed = false;
  };
  std::optional<fetched> read(const sandbox_id& in, const std::string& id) {
    std::lock_guard lock{mutex_};
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.in != in)
      return std::nullopt;
    auto& one = found->second;
    fetched out;
    out.events = one.events.told(one.watch->take());
    out.overflowed = one.events.overflowed();
    return out;
  }

private:
  struct one {
    sandbox_id in;
    sandbox_watch_ptr watch;
    watch_events events;
  };
  std::mutex mutex_;
  std::map<std::string, one> all_;
};
using watchers_ptr = std::shared_ptr<watchers>;

void create(const watchers_ptr& all, facade& shared, const exchange_ptr& ex,
            const visit& in) {
  const auto body = message_of(*ex, rpc_kind::unary);
  auto* trees = body ? trees_of(shared, *ex, rpc_kind::unary) : nullptr;
  if (!trees)
    return;
  auto wish = read_wish(*body);
  if (!wish)
    return fail_rpc(*ex,
                    {rpc_code::invalid_argument, message_of(wish.error())});
  auto begun = [all, ex, in, path = wish->path](
                 const sandbox_result<sandbox_watch_ptr>& watch) {
    if (!watch)
      return fail_rpc(*ex, why_not_watched(watch.error(), path));
    const auto id = all->put(in.id, *watch, path);
    if (!id) {
      (*watch)->close();
      return fail_rpc(
        *ex, {rpc_code::resource_exhausted, "there are too many watchers"});
    }
    json::object_writer out;
    out.text("watcherId", *id);
    answer_rpc(*ex, out.finish());
  };
  trees->watch(in.who, in.id, wish->path, wish->deep, std::move(begun));
}

std::optional<std::string> watcher_in(exchange& ex) {
  const auto body = message_of(ex, rpc_kind::unary);
  if (!body)
    return std::nullopt;
  message_reader message{*body};
  return message.text("watcherId");
}

void refuse_watcher(exchange& ex, const std::string& id) {
  fail_rpc(ex, {rpc_code::not_found, "watcher with id " + id + " not found"});
}

void fetch(const watchers_ptr& all, const exchange_ptr& ex, const visit& in) {
  const auto id = watcher_in(*ex);
  if (!id)
    return;
  const auto found = all->read(in.id, *id);
  if (!found)
    return refuse_watcher(*ex, *id);
  if (found->overflowed) {
    all->remove(in.id, *id);
    return fail_rpc(*ex,
                    {rpc_code::resource_exhausted,
                     "there were too many changes; watch again"});
  }
  json::object_writer out;
  out.raw("events", json::array_of(found->events, [](const std::string& each) {
            return each;
          }));
  answer_rpc(*ex, out.finish());
}

void remove(const watchers_ptr& all, const exchange_ptr& ex, const visit& in) {
  const auto id = watcher_in(*ex);
  if (!id)
    return;
  if (!all->remove(in.id, *id))
    return refuse_watcher(*ex, *id);
  answer_rpc(*ex, "{}");
}

} // namespace

void add_watches(data_routes& into) {
  const auto all = std::make_shared<watchers>();
  const auto add = [&](std::string_view name, visit_work work) {
    into.add(method::post, "/envd/filesystem.Filesystem/" + std::string{name},
             proof::token, std::move(work), largest_call);
  };
  add("WatchDir", watch);
  add("CreateWatcher",
      [all](facade& shared, const exchange_ptr& ex, const visit& in) {
        create(all, shared, ex, in);
      });
  add("GetWatcherEvents",
      [all](facade&, const exchange_ptr& ex, const visit& in) {
        fetch(all, ex, in);
      });
  add("RemoveWatcher", [all](facade&, const exchange_ptr& ex, const visit& in) {
    remove(all, ex, in);
  });
}

} // namespace troupe::net::e2b_facade
