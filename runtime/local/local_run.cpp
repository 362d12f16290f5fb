#include "runtime/local/local_run.hpp"

#include "runtime/base/log.hpp"
#include "runtime/json/json.hpp"
#include "runtime/local/launch/launch_shape.hpp"
#include "runtime/runner/output_text.hpp"
#include "runtime/runner/read_answer.hpp"
#include "runtime/runner/schema_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

error no_descriptors() {
  return error{.code = ec::exhausted,
               .text = std::string{"make the pipes of a run: "}
                 + std::strerror(errno)
                 + "; raise the limit of open files (LimitNOFILE)",
               .fields = {},
               .retry_after = std::chrono::milliseconds{1'000}};
}

/// The whole text is known: a sealed file needs nobody to feed it.
unique_fd make_input(const std::string& text) {
  unique_fd file{::memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  std::size_t written = 0;
  while (file && written < text.size()) {
    auto n = ::write(file.get(), text.data() + written, text.size() - written);
    if (n <= 0)
      return {};
    written += static_cast<std::size_t>(n);
  }
  if (!file
      || ::fcntl(file.get(), F_ADD_SEALS,
                 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
        != 0
      || ::lseek(file.get(), 0, SEEK_SET) != 0)
    return {};
  return file;
}

std::string wall_text(std::chrono::milliseconds t) {
  return "it ran longer than its limit of " + std::to_string(t.count()) + " ms";
}

} // namespace

local_run::local_run(asio::any_io_executor strand, prepared_run_ptr run,
                     run_observer_ptr observer, bool end_on_output_limit)
    : strand_{std::move(strand)}, run_{std::move(run)}, observer_{std::move(
                                                          observer)},
      end_on_output_limit_{end_on_output_limit}, wall_{strand_} {}

result<script::program>
local_run::make_program(const script::program_paths& paths,
                        std::string_view code) const {
  switch (purpose_) {
  case purpose::run:
    return script::build_program(*run_, paths, code);
  case purpose::compile:
    return script::build_compile(*run_, paths);
  case purpose::schema:
    break;
  }
  return script::build_schema_program(run_->lang, run_->source, run_->function,
                                      paths);
}

result<launch>
local_run::prepare(const script::program_paths& paths,
                   std::vector<warden::start_order::mount_source> shown,
                   std::string_view code) {
  auto program = make_program(paths, code);
  if (!program)
    return program.error();
  launch what;
  what.run = run_;
  what.argv = std::move(program->argv);
  for (auto& [name, value] : program->environment)
    what.env.emplace_back(name, std::move(value));
  what.working_dir = run_->working_dir;
  what.shown = std::move(shown);
  what.is_runner = program->by != script::runner::none;
  what.compile_only = compile_only();
  if (what.is_runner)
    what.slot_key = zygote::slot_key(what);
  answer_limit_ = program->answer_limit;
  request_ = std::move(program->request);

  parent_fds ends;
  if (!make_stdio(what, ends, answer_limit_ > 0))
    return no_descriptors();
  if (!program->input.empty()) {
    what.in = make_input(program->input);
    if (!what.in)
      return no_descriptors();
  }
  use_channels(std::move(ends));
  return what;
}

void local_run::use_channels(parent_fds ends) {
  out_.emplace(strand_, ends.out.release(), run_->limits.output_bytes);
  err_.emplace(strand_, ends.err.release(), run_->limits.output_bytes);
  if (!ends.channel)
    return;
  request_writer_.emplace(strand_);
  answer_.emplace(strand_, ends.channel.release(), answer_limit_ + 1);
}

void local_run::carry(launcher& carrier, launch what,
                      std::function<void()> done) {
  auto self = shared_from_this();
  carrier_ = &carrier;
  done_ = std::move(done);
  carried_ = clock::now();
  auto over = [this] {
    if (end_on_output_limit_)
      end(exit_reason::output_limit);
  };
  out_->start(
    [this](std::string_view bytes) {
      observer_->output(output_stream::out, bytes);
    },
    over);
  err_->start(
    [this](std::string_view bytes) {
      observer_->output(output_stream::err, bytes);
    },
    over);
  if (answer_) {
    answer_->start({}, [this] { end(exit_reason::output_limit); });
    request_writer_->start(self, answer_->fd(), request_.reveal());
    request_ = secret{};
  }
  carrier_events events;
  events.started = [self] { self->on_started(); };
  events.ended
    = [self](process_exit ending) { self->on_ended(std::move(ending)); };
  carrier.start(std::move(what), std::move(events));
}

bool local_run::watch() {
  return std::ranges::all_of(
    std::array{&out_, &err_, &answer_}, [this](auto* capture) {
      return !*capture || (*capture)->watch(shared_from_this());
    });
}

void local_run::on_started() {
  started_ = clock::now();
  has_started_ = true;
  observer_->started();
  arm_wall_clock();
}

void local_run::arm_wall_clock() {
  auto end_at = clock::now() + run_->limits.wall;
  if (run_->deadline != clock::time_point{})
    end_at = std::min(end_at, run_->deadline);
  wall_.expires_at(end_at);
  wall_.async_wait([self = shared_from_this()](boost::system::error_code code) {
    if (!code)
      self->end(exit_reason::wall_timeout);
  });
}

void local_run::end(exit_reason why) {
  if (carrier_ == nullptr)
    return;
  if (!asked_)
    asked_ = why;
  carrier_->kill(run_->id);
}

void local_run::on_ended(process_exit ending) {
  wall_.cancel();
  if (request_writer_)
    request_writer_->stop();
  for (auto* capture : {&out_, &err_, &answer_})
    if (*capture)
      (*capture)->finish();
  carrier_ = nullptr;
  if (told_) {
    const bool good = ending.start_failure.empty() && !ending.lost
      && ending.wait_status == 0 && !asked_;
    told_(good ? answer_->take() : std::string{});
  }
  // Killed between its exec and the word of it, it has begun all the same:
  // only who is told that it never did may run it again.
  bool begun = has_started_ || ending.start_failure.empty();
  run_outcome outcome{assemble(ending), begun};
  auto observer = std::exchange(observer_, nullptr);
  auto done = std::exchange(done_, nullptr);
  observer->finished(std::move(outcome));
  if (done)
    done();
}

/// A line per decision, for who watches the network of all runs.
void local_run::log_decisions(const process_exit& ending) const {
  for (const auto& e : ending.network)
    log::write(e.allowed ? log::level::debug : log::level::info,
               e.allowed ? "network access allowed" : "network access refused",
               {{"run", run_->id.str()},
                {"organization", run_->organization.str()},
                {"target", e.target},
                {"reason", e.reason}});
}

run_result local_run::assemble(const process_exit& ending) {
  run_result r;
  r.id = run_->id;
  r.backend = backend_kind::local;
  r.stdout_truncated = out_->truncated();
  r.stderr_truncated = err_->truncated();
  r.usage.wall = ending.wall;
  r.usage.cpu = ending.cpu;
  r.usage.peak_memory_bytes = ending.peak_memory_bytes;
  r.usage.stdout_bytes = out_->bytes();
  r.usage.stderr_bytes = err_->bytes();
  auto now = clock::now();
  auto begun = has_started_ ? started_ : now;
  r.stages.push_back(
    {"queue", duration_cast<microseconds>(carried_ - arrived_)});
  r.stages.push_back(
    {"prepare", duration_cast<microseconds>(begun - carried_)});
  if (has_started_)
    r.stages.push_back({"run", duration_cast<microseconds>(now - begun)});
  r.isolation = ending.isolation;
  r.notes = ending.notes;
  set_output(r, out_->take(), err_->take());
  r.network = ending.network;
  log_decisions(ending);
  if (ending.network_dropped > 0)
    r.notes.push_back(std::to_string(ending.network_dropped)
                      + " more network decisions are not listed");
  set_reason(ending, r);
  const auto answer = answer_ ? answer_->take() : std::string{};
  script::interpret(*run_, answer, r);
  if (r.status == run_status::error)
    attribute_to_limit(ending, r, !answer.empty());
  return r;
}

void local_run::set_reason(const process_exit& ending, run_result& r) const {
  int status = ending.wait_status;
  if (!ending.start_failure.empty()) {
    // Ended while it was being started is still ended.
    r.reason = asked_ ? *asked_ : exit_reason::start_failed;
    r.detail = asked_ ? "ended before it began" : ending.start_failure;
    return;
  }
  if (ending.lost) {
    r.reason = exit_reason::lost;
    return;
  }
  if (ending.cpu_exceeded) {
    r.reason = exit_reason::cpu_timeout;
    return;
  }
  if (ending.killed && asked_) {
    r.reason = *asked_;
    if (r.reason == exit_reason::wall_timeout)
      r.detail = wall_text(run_->limits.wall);
    return;
  }
  if (WIFEXITED(status)) {
    r.reason = exit_reason::exited;
    r.exit_code = WEXITSTATUS(status);
    return;
  }
  r.reason = exit_reason::signaled;
  r.signal = WTERMSIG(status);
  // Neither signal can be told from one that the tool sent itself: what is said
  // of them (runtime/runner) names the signal. Without a filter nobody kills.
  if (r.signal == SIGSYS && ending.has_filter())
    r.reason = exit_reason::syscall_blocked;
  else if (r.signal == SIGXFSZ)
    r.reason = exit_reason::disk_limit;
  else if (r.signal == SIGKILL && ending.memory_exceeded)
    r.reason = exit_reason::memory_limit;
  else if ((r.signal == SIGXCPU && ending.has_used(run_->limits.cpu))
           || (r.signal == SIGKILL && ending.cpu >= run_->limits.cpu))
    r.reason = exit_reason::cpu_timeout;
}

/// A tool that failed by itself may have failed for want of something.
void local_run::attribute_to_limit(const process_exit& ending, run_result& r,
                                   bool has_answered) const {
  constexpr const char* full = "its /tmp was full";
  if (r.reason == exit_reason::disk_limit && ending.disk_full)
    r.notes.emplace_back(full);
  if (r.reason != exit_reason::exited && r.reason != exit_reason::raised
      && r.reason != exit_reason::signaled)
    return;
  auto blame = [&](exit_reason why, std::string text) {
    r.reason = why;
    r.notes.push_back(std::move(text));
  };
  if (ending.memory_exceeded)
    blame(exit_reason::memory_limit,
          "the kernel killed one of its processes because of a lack of memory");
  else if (ending.processes_exceeded)
    blame(exit_reason::pids_limit,
          "it reached its limit of processes and threads");
  else if (ending.disk_full)
    blame(exit_reason::disk_limit, full);
  else if (const auto& denied = ending.denied) {
    auto refusal = "it was refused " + denied->target + ": " + denied->reason;
    // What the tool raised may have nothing to do with it; an exit code alone
    // says nothing else.
    if (!has_answered)
      r.detail += "; " + refusal;
    blame(exit_reason::policy_denied, std::move(refusal));
  }
}

void local_run::fail(error why) {
  auto observer = std::exchange(observer_, nullptr);
  observer->finished({std::move(why), false});
}

void local_run::finish_unstarted(exit_reason why, std::string detail) {
  run_result r;
  r.id = run_->id;
  r.reason = why;
  r.detail = std::move(detail);
  r.stages.push_back(
    {"queue", duration_cast<microseconds>(clock::now() - arrived_)});
  script::interpret(*run_, {}, r);
  auto observer = std::exchange(observer_, nullptr);
  observer->finished({std::move(r), false});
}

} // namespace troupe
