#pragma once

#include "runtime/engine/sandbox_contexts.hpp"
#include "runtime/model/codec/codec.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

/// A cell in memory, which has ended, unless its code is `wait`: then it ends
/// when its context is interrupted. `raise` fails; all else is printed, and is
/// the value in two forms.
class fake_cell final : public sandbox_cell {
public:
  fake_cell(std::string context, const std::string& code) {
    record_.context = std::move(context);
    record_.queued_at = now();
    record_.began_at = now();
    record_.status = cell_status::running;
    if (code == "wait")
      return;
    out_ = code + "\n";
    record_.stdout_bytes = out_.size();
    cell_event e;
    if (code == "raise") {
      e.what = cell_event::kind::error;
      e.name = "Error";
      e.value = "it was asked to";
      e.traceback = "Error: it was asked to\n";
    } else {
      e.what = cell_event::kind::result;
      e.data = {{"text/plain", code}, {"application/json", R"({"a":1})"}};
    }
    event_ = std::make_shared<const cell_event>(std::move(e));
    end(code == "raise" ? cell_status::error : cell_status::ok);
  }

  void end(cell_status how) {
    std::unique_lock lock{mutex_};
    record_.status = how;
    record_.execution_count = 1;
    record_.ended_at = now();
    auto told = std::exchange(waiting_, {});
    lock.unlock();
    for (auto& each : told)
      each();
  }

  cell_record record() const override {
    std::lock_guard lock{mutex_};
    return record_;
  }
  output_piece read(output_stream which, std::uint64_t from,
                    std::size_t most) const override {
    std::lock_guard lock{mutex_};
    output_piece piece;
    piece.from = from;
    if (which == output_stream::out && from < out_.size())
      piece.bytes = out_.substr(static_cast<std::size_t>(from), most);
    return piece;
  }
  std::optional<placed_event> event(std::size_t number) const override {
    if (number > 0 || !event_)
      return std::nullopt;
    return placed_event{event_, {out_.size(), 0}};
  }
  result<void> when_more(cell_offsets, std::function<void()> then) override {
    when_ended(std::move(then));
    return {};
  }
  void when_ended(std::function<void()> then) override {
    std::unique_lock lock{mutex_};
    if (!record_.ended()) {
      waiting_.push_back(std::move(then));
      return;
    }
    lock.unlock();
    then();
  }

private:
  mutable std::mutex mutex_;
  cell_record record_;
  std::string out_;
  std::shared_ptr<const cell_event> event_;
  std::vector<std::function<void()>> waiting_;
};

class fake_context final : public sandbox_context {
public:
  explicit fake_context(context_spec what, bool is_default = false) {
    record_.id = make_context_id();
    record_.name = what.name;
    record_.language = what.language;
    record_.cwd = what.cwd;
    record_.is_default = is_default;
    record_.auto_restart = what.auto_restart;
    record_.state = context_state::idle;
    record_.created_at = now();
  }

  std::shared_ptr<fake_cell> run(const cell_spec& what) {
    return last_ = std::make_shared<fake_cell>(record_.id, what.code);
  }

  context_record record() const override { return record_; }
  void when_ready(sandbox_handler<void> then) override { then({}); }
  void interrupt(sandbox_handler<bool> then) override {
    if (!last_ || last_->record().ended())
      return then(sandbox_error{fail(ec::conflict, "no cell runs")});
    last_->end(cell_status::interrupted);
    then(true);
  }
  void restart(sandbox_handler<void> then) override { then({}); }

private:
  context_record record_;
  std::shared_ptr<fake_cell> last_;
};

/// Contexts in memory; of which sandbox they are does not matter. Handlers are
/// called before a call returns.
class fake_contexts final : public sandbox_contexts {
public:
  void create(caller, sandbox_id, context_spec what,
              done<sandbox_context_ptr> then) override {
    auto made = std::make_shared<fake_context>(std::move(what));
    std::unique_lock lock{mutex_};
    all_[made->record().id] = made;
    lock.unlock();
    then(sandbox_context_ptr{made});
  }
  void find(caller, sandbox_id, std::string context,
            done<sandbox_context_ptr> then) override {
    auto found = look(context);
    if (!found)
      return then(missing());
    then(sandbox_context_ptr{std::move(found)});
  }
  void list(caller, sandbox_id,
            done<std::vector<sandbox_context_ptr>> then) override {
    std::vector<sandbox_context_ptr> found;
    std::unique_lock lock{mutex_};
    for (const auto& [id, context] : all_)
      found.push_back(context);
    lock.unlock();
    then(std::move(found));
  }
  void remove(caller, sandbox_id, std::string context,
              done<void> then) override {
    std::unique_lock lock{mutex_};
    const bool gone = all_.erase(context) > 0;
    lock.unlock();
    if (gone)
      then({});
    else
      then(missing());
  }
  void run(caller, sandbox_id, context_choice where, cell_spec what,
           done<sandbox_cell_ptr> then) override {
    if (where.id.empty()) {
      context_spec spec;
      spec.language = where.language;
      fake_context context{spec, true};
      return then(sandbox_cell_ptr{context.run(what)});
    }
    auto found = look(where.id);
    if (!found)
      return then(missing());
    then(sandbox_cell_ptr{found->run(what)});
  }

  void branch(caller, sandbox_id, branch_spec what,
              done<sandbox_branches> then) override {
    for (const auto& id : what.contexts)
      if (!look(id))
        return then(missing());
    sandbox_branches out;
    auto made = std::make_shared<sandbox_record>();
    made->id = sandbox_id::make();
    made->metadata = what.metadata;
    out.all.resize(what.count);
    for (auto& each : out.all) {
      each.sandbox = made;
      each.contexts.push_back({"c_1", {"file /tmp/gone"}});
    }
    out.left.push_back({"c_2", "a context of bash begins anew in a branch"});
    then(std::move(out));
  }

private:
  static sandbox_error missing() {
    return sandbox_error{fail(ec::not_found, "there is no such context")};
  }
  std::shared_ptr<fake_context> look(const std::string& id) {
    std::lock_guard lock{mutex_};
    auto i = all_.find(id);
    return i == all_.end() ? nullptr : i->second;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<fake_context>> all_;
};

} // namespace troupe::test
