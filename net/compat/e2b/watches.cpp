// filesystem.Filesystem: changes in folders, as a stream or to be fetched.
#include "net/api/shared/pulled_bytes.hpp"
#include "net/compat/e2b/connect_rpc.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/inside_program.hpp"
#include "net/compat/e2b/paths.hpp"
#include "net/compat/e2b/watch_program.hpp"
#include "runtime/json/writer.hpp"

#include <atomic>
#include <csignal>
#include <limits>
#include <map>
#include <mutex>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_call = 64u << 10;
constexpr std::size_t most_watchers = 1'000; // to be fetched, of all sandboxes
constexpr std::size_t most_events = 1'000;   // in one answer

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

/// Why there is nothing to watch; nothing: it has not ended by itself.
rpc_error why_ended(const process_record& how, const std::string& path) {
  if (how.reason == process_reason::exited && how.exit_code == watch_not_found)
    return {rpc_code::not_found, "path " + path + " not found"};
  if (how.reason == process_reason::exited && how.exit_code == watch_no_folder)
    return {rpc_code::invalid_argument, "path is not a directory: " + path};
  return {rpc_code::internal,
          "watching " + path + " ended; it needs python3 in the sandbox"};
}

void end_program(const sandbox_program_ptr& program) {
  program->signal(SIGKILL, [](const auto&) {});
}

void begin(facade& shared, const visit& in, const watch_wish& wish,
           sandbox_handler<sandbox_program_ptr> then) {
  process_spec what;
  what.argv = watch_command(wish.path, wish.deep);
  what.tag = own_tag;
  shared.sandboxes()->start(in.who, in.id, std::move(what), std::move(then));
}

// -- a stream -----------------------------------------------------------------

/// Changes as envelopes, until the client goes away.
class watch_stream final : public pulled_bytes {
public:
  watch_stream(exchange_ptr ex, sandbox_program_ptr program, std::string path)
      : pulled_bytes{std::move(ex)}, lines_{std::move(program)}, path_{
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
  void left() override { end_program(lines_.program()); }

  void fail(const rpc_error& why) {
    end_program(lines_.program());
    put(end_envelope(why));
    close();
  }

  bool step() override {
    const auto record = lines_.program()->record(); // before what it said
    if (const auto line = lines_.next()) {
      json::object_writer out;
      if (line->ready)
        out.raw("start", "{}");
      else
        out.raw("filesystem", to_json(*line));
      put(envelope_of(out.finish()));
      return true;
    }
    if (record.reason == process_reason::sandbox_ended
        || record.reason == process_reason::lost) {
      cut();
    } else if (record.ended()) {
      fail(why_ended(record, path_));
    } else if (lines_.lost()) {
      fail({rpc_code::resource_exhausted, "there were too many changes"});
    } else if (out_of_time_) {
      fail({rpc_code::deadline_exceeded, "context deadline exceeded"});
    } else {
      wait_for_more();
    }
    return false;
  }

  void wait_for_more() {
    auto self = std::static_pointer_cast<watch_stream>(shared_from_this());
    auto read = lines_.read();
    read.err = std::numeric_limits<std::uint64_t>::max(); // is not told
    auto waits = lines_.program()->when_more(read, [self] { self->go_on(); });
    if (!waits)
      fail({rpc_code::resource_exhausted, waits.error().text});
  }

  watch_reader lines_; // used by the thread that is busy
  const std::string path_;
  std::atomic<bool> out_of_time_{false};
};

void watch(facade& shared, const exchange_ptr& ex, const visit& in) {
  const auto body = message_of(*ex, rpc_kind::stream);
  if (!body)
    return;
  auto wish = read_wish(*body);
  if (!wish)
    return fail_stream(*ex,
                       {rpc_code::invalid_argument, message_of(wish.error())});
  auto begun = [ex, in, path = wish->path](
                 const sandbox_result<sandbox_program_ptr>& program) {
    if (!program && is_about_sandbox(program.error()))
      return refuse_gone(*ex, in.id.str());
    if (!program)
      return fail_stream(*ex, rpc_error_of(program.error()));
    auto stream = std::make_shared<watch_stream>(ex, *program, path);
    if (const auto time = time_of_call(ex->in()))
      stream->bound(*time);
    stream->start();
  };
  begin(shared, in, *wish, std::move(begun));
}

// -- to be fetched ------------------------------------------------------------

/// Watchers of clients that fetch what has changed, by the ids of their
/// programs. Thread-safe.
class watchers {
public:
  bool put(const sandbox_id& in, const sandbox_program_ptr& program) {
    std::lock_guard lock{mutex_};
    std::erase_if(all_, [](const auto& each) {
      return each.second.lines.program()->record().ended();
    });
    if (all_.size() >= most_watchers)
      return false;
    all_.emplace(program->record().id, one{in, watch_reader{program}});
    return true;
  }
  /// Null: there is none of that id in that sandbox.
  sandbox_program_ptr take(const sandbox_id& in, const std::string& id) {
    std::lock_guard lock{mutex_};
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.in != in)
      return nullptr;
    auto program = found->second.lines.program();
    all_.erase(found);
    return program;
  }
  std::optional<std::vector<watch_line>> read(const sandbox_id& in,
                                              const std::string& id) {
    std::lock_guard lock{mutex_};
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.in != in)
      return std::nullopt;
    std::vector<watch_line> out;
    while (out.size() < most_events) {
      auto line = found->second.lines.next();
      if (!line)
        break;
      if (!line->ready)
        out.push_back(std::move(*line));
    }
    return out;
  }

private:
  struct one {
    sandbox_id in;
    watch_reader lines;
  };
  std::mutex mutex_;
  std::map<std::string, one> all_;
};
using watchers_ptr = std::shared_ptr<watchers>;

/// Answers once the watches stand, or when they cannot.
void answer_created(const watchers_ptr& all, const exchange_ptr& ex,
                    const visit& in, const sandbox_program_ptr& program,
                    const std::string& path) {
  auto said = [all, ex, in, program, path] {
    if (const auto record = program->record(); record.ended())
      return fail_rpc(*ex, why_ended(record, path));
    if (!all->put(in.id, program)) {
      end_program(program);
      return fail_rpc(
        *ex, {rpc_code::resource_exhausted, "there are too many watchers"});
    }
    json::object_writer out;
    out.text("watcherId", program->record().id);
    answer_rpc(*ex, out.finish());
  };
  output_offsets nothing_yet;
  nothing_yet.err = std::numeric_limits<std::uint64_t>::max();
  auto waits = program->when_more(nothing_yet, std::move(said));
  if (!waits)
    fail_rpc(*ex, {rpc_code::resource_exhausted, waits.error().text});
}

void create(const watchers_ptr& all, facade& shared, const exchange_ptr& ex,
            const visit& in) {
  const auto body = message_of(*ex, rpc_kind::unary);
  if (!body)
    return;
  auto wish = read_wish(*body);
  if (!wish)
    return fail_rpc(*ex,
                    {rpc_code::invalid_argument, message_of(wish.error())});
  begin(shared, in, *wish,
        [all, ex, in, path = wish->path](
          const sandbox_result<sandbox_program_ptr>& program) {
          if (!program)
            return fail_rpc(*ex, rpc_error_of(program.error()));
          answer_created(all, ex, in, *program, path);
        });
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
  const auto events = all->read(in.id, *id);
  if (!events)
    return refuse_watcher(*ex, *id);
  json::object_writer out;
  out.raw("events", json::array_of(*events, [](const watch_line& each) {
            return to_json(each);
          }));
  answer_rpc(*ex, out.finish());
}

void remove(const watchers_ptr& all, const exchange_ptr& ex, const visit& in) {
  const auto id = watcher_in(*ex);
  if (!id)
    return;
  const auto program = all->take(in.id, *id);
  if (!program)
    return refuse_watcher(*ex, *id);
  end_program(program);
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
