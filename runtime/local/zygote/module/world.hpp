#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"
#include "runtime/local/zygote/module/guest.hpp"

#include <stdint.h>

namespace troupe::zygote {

/// What every run of a strict slot has to itself (plan::world_per_run), and
/// who is first in it. That one is a process of the slot's own memory, so that
/// only the run's own process costs a copy of the interpreter; it is as
/// confined as the run, waits for its end and takes all the rest along.
class world {
public:
  explicit world(const isolation::plan& plan) : plan_{plan} {}

  /// As `guest::fork`, in a world of its own. In the child it returns on the
  /// same stack. The process that is told of is the first one, and its end the
  /// end of all. -1 with errno set and `failed_at`.
  pid_t fork(guest& in);
  isolation::step failed_at() const { return shared_.done.at; }

  /// Once the first process was reaped, with `status`: how the run ended.
  int end_of_run(int status) const;
  bool scratch_was_full() const { return shared_.scratch_full; }

private:
  /// What both processes of one memory look at.
  struct shared {
    const isolation::plan* plan;
    guest* in;
    void* back[5]; // to the slot's stack, for the run's process
    uint32_t state;
    isolation::outcome done;
    pid_t run;
    bool has_ended;
    bool scratch_full;
    int status;
  };

  static int be_first(void* arg);
  void wait_until_forked();

  const isolation::plan& plan_;
  shared shared_{};
};

} // namespace troupe::zygote
