// Branches: sandboxes with the files of another one, in which its contexts go
// on.
#include "actors/sandbox/gateway/context_gateway.hpp"
#include "actors/sandbox/gateway/fork_parts.hpp"
#include "actors/sandbox/live_context.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace troupe {

/// One call: save the contexts, put the files away, make the sandboxes, let the
/// contexts go on there. What was made goes again when one step fails.
class branching : public std::enable_shared_from_this<branching> {
public:
  branching(context_gateway& via, caller who, sandbox_id id, branch_spec what,
            sandbox_handler<sandbox_branches> then)
      : via_{via}, who_{std::move(who)}, id_{id}, what_{std::move(what)},
        then_{std::move(then)} {}

  void begin() {
    // It goes on first if it is paused and may.
    via_.tell<sandbox_access>(
      who_, id_,
      [self = shared_from_this()](sandbox_result<sandbox_access> in) {
        if (!in)
          return self->then_(in.error());
        if (!in->place->provider->capabilities().branches)
          return self->then_(sandbox_error{
            sandbox_problem::unsupported_here, ec::invalid_request,
            std::string{to_string(in->place->name)}
              + " has no branches; use fork"});
        self->look();
      },
      access_v);
  }

private:
  using all_contexts = std::shared_ptr<const std::vector<sandbox_context_ptr>>;

  void look() {
    via_.tell<all_contexts>(
      who_, id_,
      [self = shared_from_this()](sandbox_result<all_contexts> came) {
        if (!came)
          return self->then_(came.error());
        if (auto why = self->choose(**came))
          return self->then_(std::move(*why));
        self->save_next();
      },
      list_v, context_reference{});
  }

  std::optional<sandbox_error>
  choose(const std::vector<sandbox_context_ptr>& all) {
    for (const auto& id : what_.contexts)
      if (std::ranges::none_of(
            all, [&](const auto& c) { return c->record().id == id; }))
        return sandbox_error{
          troupe::fail(ec::not_found, "there is no context " + id)};
    for (const auto& each : all) {
      const auto r = each->record();
      const bool named
        = std::ranges::find(what_.contexts, r.id) != what_.contexts.end();
      auto context = std::dynamic_pointer_cast<live_context>(each);
      if (!context || (!named && !what_.contexts.empty()))
        continue;
      if (named || r.language == context_language::python)
        to_save_.push_back(std::move(context));
      else
        out_.left.push_back({r.id,
                             "a context of "
                               + std::string{to_string(r.language)}
                               + " begins anew in a branch"});
    }
    if (!to_save_.empty())
      return std::nullopt;
    return sandbox_error{sandbox_problem::context_not_branchable, ec::conflict,
                         "the sandbox has no context of python, the only ones "
                         "that can be branched; use fork"};
  }

  /// One after the other: each is a fork of a process. The files are put away
  /// while the last one is written.
  void save_next() {
    const auto number = saved_.size();
    if (number == to_save_.size()) {
      if (!std::exchange(files_begun_, true))
        put_files_away();
      return join();
    }
    std::function<void()> begun;
    if (number + 1 == to_save_.size())
      begun = [self = shared_from_this()] {
        self->files_begun_ = true;
        self->put_files_away();
      };
    to_save_[number]->save(
      std::move(begun),
      [self = shared_from_this()](sandbox_result<saved_context_ptr> came) {
        if (came) {
          auto with_env = std::make_shared<saved_context>(**came);
          with_env->env = self->what_.env;
          self->saved_.push_back(std::move(with_env));
          return self->save_next();
        }
        if (!self->files_begun_)
          return self->then_(came.error());
        self->fail(came.error());
        self->join();
      });
  }

  void put_files_away() {
    via_.tell<taken_snapshot>(
      who_, id_,
      [self = shared_from_this()](sandbox_result<taken_snapshot> came) {
        if (!came) {
          self->fail(came.error());
          return self->join();
        }
        self->snapshot_ = came->record->id.str();
        self->make_all(*came->parent);
      },
      snapshot_v, snapshot_order{{}, true});
  }

  void make_all(const sandbox_spec& parent) {
    left_ = what_.count;
    out_.all.resize(what_.count);
    for (std::size_t i = 0; i < what_.count; ++i)
      via_.sandboxes_.create(who_, spec_of_fork(parent, what_, snapshot_),
                             [self = shared_from_this(),
                              i](sandbox_result<sandbox_record_ptr> made) {
                               if (made) // a place of its own
                                 self->out_.all[i].sandbox = std::move(*made);
                               else
                                 self->fail(made.error());
                               self->step_done(&branching::join);
                             });
  }

  /// The contexts are saved and the sandboxes are there, or never will be.
  void join() {
    if (++joined_ == 2)
      begin_contexts();
  }

  void begin_contexts() {
    forget_snapshot();
    if (failure_)
      return undo();
    left_ = what_.count * saved_.size();
    for (std::size_t i = 0; i < out_.all.size(); ++i)
      for (const auto& each : saved_)
        begin_context(i, each);
  }

  void begin_context(std::size_t i, const saved_context_ptr& from) {
    auto begun = [self = shared_from_this(), i,
                  id = from->id](sandbox_result<sandbox_context_ptr> came) {
      if (!came)
        return self->context_done(i, id, came.error());
      auto context = std::dynamic_pointer_cast<live_context>(*came);
      context->when_lost_known(
        [self, i, id](sandbox_result<std::vector<std::string>> lost) {
          self->context_done(i, id, std::move(lost));
        });
    };
    context_order order;
    order.from = from;
    via_.tell<sandbox_context_ptr>(who_, out_.all[i].sandbox->id,
                                   std::move(begun), start_v, std::move(order));
  }

  void context_done(std::size_t i, const std::string& id,
                    sandbox_result<std::vector<std::string>> lost) {
    if (lost) {
      std::lock_guard lock{mutex_};
      out_.all[i].contexts.push_back({id, std::move(*lost)});
    } else {
      fail(lost.error());
    }
    step_done(&branching::finish);
  }

  void finish() {
    if (failure_)
      return undo();
    then_(std::move(out_));
  }

  /// All or none of them.
  void undo() {
    if (out_.all.empty())
      return tell_failure();
    left_ = out_.all.size();
    for (const auto& each : out_.all)
      if (each.sandbox)
        via_.sandboxes_.remove(
          who_, each.sandbox->id,
          [self = shared_from_this()](sandbox_result<void>) {
            self->step_done(&branching::tell_failure);
          });
      else
        step_done(&branching::tell_failure);
  }

  void tell_failure() { then_(*failure_); }

  void forget_snapshot() {
    if (snapshot_.empty())
      return;
    auto gone = via_.services_->snapshots.take(who_.organization, snapshot_);
    if (gone)
      forget_at_place(*via_.services_, *gone);
  }

  /// The first one is told.
  void fail(const sandbox_error& why) {
    std::lock_guard lock{mutex_};
    if (!failure_)
      failure_ = why;
  }

  void step_done(void (branching::*next)()) {
    if (--left_ == 0)
      (this->*next)();
  }

  context_gateway& via_;
  const caller who_;
  const sandbox_id id_;
  const branch_spec what_;
  const sandbox_handler<sandbox_branches> then_;
  std::vector<live_context_ptr> to_save_;
  std::vector<saved_context_ptr> saved_;
  std::string snapshot_;
  bool files_begun_ = false;         // on the place's executor
  std::atomic<int> joined_{0};       // of two
  std::atomic<std::size_t> left_{0}; // answers of this step
  std::mutex mutex_;                 // guards what follows, within a step
  sandbox_branches out_;
  std::optional<sandbox_error> failure_;
};

void context_gateway::branch(caller who, sandbox_id id, branch_spec what,
                             done<sandbox_branches> then) {
  std::make_shared<branching>(*this, std::move(who), id, std::move(what),
                              std::move(then))
    ->begin();
}

} // namespace troupe
