#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"
#include "runtime/local/warm/process/interpreter.hpp"

#include <stdint.h>
#include <sys/resource.h>

namespace troupe::zygote {

/// What every run of a strict slot has to itself (plan::namespaces_per_run),
/// and who is first in it. That one is a process of the slot's own memory, so
/// that only the run's own process costs a copy of the interpreter; it is as
/// confined as the run, waits for its end and takes all the rest along.
class run_namespaces {
public:
  explicit run_namespaces(const isolation::plan& plan);
  run_namespaces(const run_namespaces&) = delete;
  run_namespaces& operator=(const run_namespaces&) = delete;

  /// For `__builtin_setjmp`, once: where a run's process begins, on the stack
  /// of the caller, who must not return before the last run has begun.
  void** resume_point() { return shared_.back; }

  /// Makes a world with a run in it. The process that is told of is the first
  /// one, and its end the end of all; -1 with `failure`.
  pid_t make(interpreter& in);
  /// Both are at work in one memory until the run has begun: nothing may be
  /// changed before this has returned.
  void wait_until_forked();

  /// Readable when the first process has reaped its run and everybody that
  /// it left, and little is left in the scratch. Then nothing that can do
  /// anything is left: the kernel takes the world apart, which is a grace
  /// period of its own, and nobody has to wait for that.
  int only_init_left_fd() const { return shared_.only_init_left; }
  /// Of the run that was made last; true once.
  bool has_only_init_left();

  /// Once it was deserted, or its first process reaped: whether there was a
  /// run, and if not, what failed; else how it ended, where `status` is the
  /// first one's end, and what it used until it was deserted.
  bool has_begun() const { return shared_.run > 0; }
  isolation::outcome failure() const { return shared_.done; }
  int end_of_run(int status) const;
  const rusage& used() const { return shared_.used; }
  bool scratch_was_full() const { return shared_.scratch_full; }

private:
  /// What both processes of one memory look at.
  struct shared {
    const isolation::plan* plan;
    interpreter* in;
    void* back[5];
    uint32_t state;
    isolation::outcome done;
    pid_t run;
    int only_init_left; // an eventfd
    bool has_ended;
    bool scratch_full;
    int status;
    rusage used; // times, and the largest process
  };

  static int init_main(void* arg);
  static bool wait_for_run(shared& s);
  void await_not(uint32_t state);

  const isolation::plan& plan_;
  shared shared_{};
};

} // namespace troupe::zygote
