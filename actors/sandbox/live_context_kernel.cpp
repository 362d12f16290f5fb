// The interpreter of a context: begun, given cells, interrupted, lost. On the
// executor of its place.
#include "actors/sandbox/live_context.hpp"
#include "actors/sandbox/place_call.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr std::chrono::seconds longest_start{60};
/// Of a cell that was asked to stop.
constexpr std::chrono::seconds interrupt_patience{2};
/// What is printed between two cells is told with the next one.
constexpr std::size_t most_between = 64u << 10;

constexpr auto never = live_context::clock::time_point::max();

std::string text_of(const result<process_end>& how) {
  if (!how)
    return how.error().text;
  auto text = how->signaled
    ? "the interpreter was killed by signal " + std::to_string(how->signal)
    : "the interpreter ended with exit code " + std::to_string(how->exit_code);
  return how->detail.empty() ? text : text + ": " + how->detail;
}

} // namespace

void live_context::start_kernel() {
  {
    std::lock_guard lock{mutex_};
    if (closed_ || starting_ || kernel_)
      return;
  }
  starting_ = true;
  restarts_ = false;
  const auto generation = ++generation_;
  set_state(context_state::starting);
  kernel_request wanted;
  wanted.language = what_.language;
  wanted.cwd = what_.cwd;
  for (const auto& [name, value] : from_ ? from_->env : what_.env)
    wanted.env[name] = value.reveal();
  if (from_)
    wanted.image = from_->image;
  call_scope scope{std::chrono::steady_clock::now() + longest_start, nullptr};
  using came_of_it = result<std::shared_ptr<sandbox_kernel>>;
  auto start = [provider = around_.place.provider, box = around_.box,
                wanted = std::move(wanted), events = events_of(generation),
                scope = std::move(scope)] {
    return provider->start_kernel(*box, wanted, events, scope);
  };
  call_place<came_of_it>(
    around_.place.executor, std::move(start),
    [self = shared_from_this(), generation](std::optional<came_of_it> came) {
      self->started(generation,
                    came ? std::move(*came) : came_of_it{place_threw()});
    });
}

kernel_events live_context::events_of(std::uint64_t generation) {
  kernel_events e;
  // Not for ever: what holds the handlers ends with the interpreter.
  const auto current = [self = shared_from_this(), generation] {
    return self->generation_ == generation ? self.get() : nullptr;
  };
  e.output = [current](output_stream which, std::string_view bytes) {
    if (auto* self = current())
      self->append(which, bytes);
  };
  e.told = [current](cell_event event) {
    if (auto* self = current(); self && self->current_)
      self->current_->append(std::move(event));
  };
  e.done = [current](kernel_answer how) {
    if (auto* self = current())
      self->cell_done(how);
  };
  e.ended = [current](result<process_end> how) {
    if (auto* self = current())
      self->kernel_ended(how);
  };
  return e;
}

void live_context::started(std::uint64_t generation,
                           result<std::shared_ptr<sandbox_kernel>> came) {
  if (generation != generation_) { // it was closed meanwhile
    if (came)
      (*came)->kill();
    return;
  }
  starting_ = false;
  if (!came) {
    answer_ready(sandbox_error{came.error()});
    return lose(came.error().text, cell_status::lost);
  }
  kernel_ = std::move(*came);
  {
    std::lock_guard lock{mutex_};
    record_.pid = kernel_->pid();
    record_.execution_count = from_ ? from_->execution_count : 0;
  }
  lost_ = kernel_->lost();
  from_.reset(); // another one after it is a fresh one
  set_state(context_state::idle);
  answer_ready({});
  pump();
}

void live_context::append(output_stream which, std::string_view bytes) {
  if (current_)
    return current_->append(which, bytes);
  auto& kept = which == output_stream::out ? out_between_ : err_between_;
  kept += bytes.substr(0, most_between - std::min(most_between, kept.size()));
}

void live_context::pump() {
  if (current_ || starting_ || saving_)
    return;
  {
    std::lock_guard lock{mutex_};
    if (queue_.empty() || closed_)
      return;
    if (record_.state == context_state::lost)
      lost_before_ = record_.detail; // and it restarts by itself
    if (kernel_) {
      current_ = std::move(queue_.front());
      queue_.pop_front();
      record_.queued = queue_.size();
      record_.state = context_state::busy;
    }
  }
  if (!kernel_)
    return start_kernel();
  current_->begin(std::exchange(lost_before_, {}));
  current_->append(output_stream::out, std::exchange(out_between_, {}));
  current_->append(output_stream::err, std::exchange(err_between_, {}));
  if (current_->timeout().count() > 0)
    cell_end_ = around_.now() + current_->timeout();
  // Where that fails, the end of the interpreter is on its way.
  if (!kernel_->run(current_->code()))
    kill_kernel();
  set_due();
}

void live_context::cell_done(const kernel_answer& how) {
  auto cell = std::exchange(current_, nullptr);
  if (!cell)
    return;
  const bool timed_out
    = timeout_ != patience::none && how.status != cell_status::ok;
  calm_down();
  {
    std::lock_guard lock{mutex_};
    record_.execution_count = how.execution_count;
    record_.state = context_state::idle;
  }
  answer_interrupts(true);
  cell->finish(timed_out ? cell_status::timeout : how.status,
               how.execution_count);
  pump();
  set_due();
}

void live_context::kernel_ended(const result<process_end>& how) {
  if (starting_) { // ready, and gone before that was heard
    starting_ = false;
    ++generation_;
    answer_ready(sandbox_error{fail(ec::unavailable, text_of(how))});
  }
  kernel_.reset();
  const bool timed_out = timeout_ == patience::killed;
  const bool again = timed_out || restarts_;
  lose(restarts_ ? "the context was restarted"
         : timed_out
         ? "it did not stop at its timeout, and its interpreter was killed"
         : text_of(how),
       timed_out ? cell_status::timeout : cell_status::lost);
  if (again)
    start_kernel();
}

void live_context::lose(std::string why, cell_status current) {
  calm_down();
  std::deque<live_cell_ptr> never_run;
  std::optional<sandbox_error> told;
  {
    std::lock_guard lock{mutex_};
    never_run.swap(queue_);
    record_.queued = 0;
    record_.state = context_state::lost;
    record_.detail = why;
    told = lost();
  }
  for (auto& each : std::exchange(interrupts_, {}))
    each(*told);
  if (!restarts_)
    answer_ready(*told);
  if (auto cell = std::exchange(current_, nullptr))
    cell->finish_lost(current, why);
  for (const auto& cell : never_run)
    cell->finish_lost(cell_status::lost,
                      "the context was lost before this cell began: " + why);
  due_ = never.time_since_epoch();
  around_.changed();
}

void live_context::act_on_due() {
  const auto now = around_.now();
  if (patience_end_ <= now) {
    patience_end_ = never;
    if (timeout_ == patience::interrupted) {
      timeout_ = patience::killed;
      kill_kernel();
    }
    answer_interrupts(false);
  }
  if (current_ && cell_end_ <= now) {
    cell_end_ = never;
    timeout_ = patience::interrupted;
    patience_end_ = never; // a call may have begun one
    interrupt_cell();
  }
  set_due();
}

void live_context::interrupt_cell() {
  if (kernel_)
    kernel_->interrupt();
  if (patience_end_ == never)
    patience_end_ = around_.now() + interrupt_patience;
  set_due();
}

void live_context::kill_kernel() {
  if (kernel_)
    kernel_->kill();
}

void live_context::calm_down() {
  timeout_ = patience::none;
  cell_end_ = patience_end_ = never;
}

void live_context::answer_interrupts(bool interrupted) {
  for (auto& each : std::exchange(interrupts_, {}))
    each(interrupted);
}

void live_context::answer_ready(const sandbox_result<void>& how) {
  for (auto& each : std::exchange(until_ready_, {}))
    each(how);
}

void live_context::set_due() {
  const auto due = std::min(cell_end_, patience_end_).time_since_epoch();
  if (due_.exchange(due) != due)
    around_.changed();
}

void live_context::set_state(context_state state) {
  std::lock_guard lock{mutex_};
  record_.state = state;
  record_.detail.clear();
}

} // namespace troupe
