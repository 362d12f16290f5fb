// Buys: most pages that a run writes to are the same for every run: where the
// next objects will lie, what counts references, the interpreter's own state.
// A process that waits for its run writes to them ahead, when nobody waits for
// it: a fifth of the latency of a warmed run, a tenth where runs follow each
// other. Which pages these are, runs of our own show, by what they have written
// to between their request and their end. They are forked from the finished
// interpreter, as slots and runs will be, so the addresses are those of every
// run to come. Costs 40 ms at the interpreter's start, and the memory of
// pages that a run turns out not to need.
#include "runtime/local/warm/process/prefault.hpp"

#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/warm/memory/write_counts.hpp"
#include "runtime/local/warm/process/slot.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

constexpr int populate_write = 23; // MADV_POPULATE_WRITE, since Linux 5.14
constexpr int patience = 5'000;    // ms; a rehearsal takes 5

/// Pages, neighbours together.
struct page_set {
  static constexpr size_t page_size = 4096;
  static constexpr int most = 512;
  struct {
    uintptr_t begin;
    size_t size;
  } range[most];
  int count;
  int pages;

  void fill(const page_list& from) {
    for (size_t i = 0; i < from.count; ++i) {
      auto* last = count > 0 ? &range[count - 1] : nullptr;
      if (last && last->begin + last->size == from.page[i])
        last->size += page_size;
      else if (count < most)
        range[count++] = {from.page[i], page_size};
      else
        return;
      ++pages;
    }
  }
};

/// By `waiting`: what a run writes to from there on.
page_set ready[2];

/// Shared by the zygote, the stage and who rehearses on it.
struct stage_memory {
  waiting scene;
  page_scratch scratch;
  page_list before; // written to when the request comes
  page_list after;  // and when the run is at its end
  bool waited;
  bool ended;
  write_counts tally;
  page_list found[2]; // by `waiting`
};

stage_memory* stage = nullptr; // only while there is a rehearsal

/// True: it has ended by itself, and well.
bool wait_for(pid_t child) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd watched{fd, POLLIN, 0};
  const bool in_time = fd >= 0 && poll(&watched, 1, patience) == 1;
  if (!in_time)
    kill(child, SIGKILL); // ours, and not reaped yet
  if (fd >= 0)
    close(fd);
  int status = -1;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
  return in_time && status == 0;
}

/// What the engine sends to a process that waits.
bool direct(const stage_memory& s, int orders, int channel, int far_channel,
            std::string_view request) {
  packet order;
  order.what = word::warm;
  if (s.scene == waiting::warmed && !send(orders, order))
    return false;
  order.what = word::run;
  order.flags = report_early;
  const int with[] = {STDIN_FILENO, STDIN_FILENO, far_channel}; // null
  return send(orders, order, with, 3)
    && ::send(channel, request.data(), request.size(),
              MSG_NOSIGNAL | MSG_DONTWAIT)
    == static_cast<ssize_t>(request.size());
}

/// One run. Returns true in its process only.
bool play(interpreter& in, stage_memory& s, std::string_view request) {
  int orders[2], channel[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) != 0
      || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
    _exit(1);
  s.waited = s.ended = false;
  const auto child = in.fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    packet order;
    order.what = word::prefork;
    descriptors none;
    none.count = 0;
    in.live(order, none, orders[1]);
    return true;
  }
  if (child < 0)
    _exit(1);
  if (!direct(s, orders[0], channel[0], channel[1], request))
    kill(child, SIGKILL); // ours, and not reaped yet
  for (int fd : {orders[1], channel[1]})
    close(fd);
  if (wait_for(child) && s.waited && s.ended)
    s.tally.add(s.before, s.after);
  for (int fd : {orders[0], channel[0]})
    close(fd);
  return false;
}

/// All of them. Returns true in the process of one only.
bool play_all(interpreter& in, stage_memory& s, std::string_view plays) {
  uint64_t length = 0;
  for (; plays.size() >= sizeof length; plays.remove_prefix(length)) {
    memcpy(&length, plays.data(), sizeof length);
    plays.remove_prefix(sizeof length);
    if (length > plays.size())
      break;
    if (play(in, s, plays.substr(0, length)))
      return true;
  }
  return false;
}

/// What a slot is to runs: forked from the zygote, and their parent. Returns
/// in a run's process only.
void put_on_stage(interpreter& in, stage_memory& s, std::string_view plays) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  reserve_low_fds(in);
  stage = &s;
  for (const auto scene : {waiting::forked, waiting::warmed}) {
    s.scene = scene;
    s.tally.clear();
    if (play_all(in, s, plays))
      return;
    const int count = s.tally.runs();
    // Who has little time does what is certain to be needed; who has enough,
    // what one run in four needs.
    const int enough = scene == waiting::forked ? count : (count + 3) / 4;
    s.tally.list(enough, s.found[static_cast<int>(scene)]);
  }
  _exit(0);
}

} // namespace

int rehearse(interpreter& in, std::string_view plays) {
  if (plays.empty())
    return 0;
  auto* place = mmap(nullptr, sizeof(stage_memory), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED)
    return 0;
  auto& s = *static_cast<stage_memory*>(place);
  const auto child = isolation::clone_into(0, -1);
  if (child.pid == 0) {
    put_on_stage(in, s, plays);
    return -1;
  }
  if (child.pidfd >= 0)
    close(child.pidfd);
  if (child.pid > 0 && wait_for(child.pid))
    for (int i : {0, 1})
      ready[i].fill(s.found[i]);
  munmap(place, sizeof s);
  return ready[0].pages + ready[1].pages;
}

void make_pages_ready(waiting now) {
  if (stage) {
    if (now == stage->scene)
      stage->waited = list_own_pages(stage->before, stage->scratch);
    return;
  }
  const auto& known = ready[static_cast<int>(now)];
  // What is not there any more, or not yet, is no matter.
  for (int i = 0; i < known.count; ++i)
    madvise(reinterpret_cast<void*>(known.range[i].begin), known.range[i].size,
            populate_write);
}

void end_rehearsal() {
  if (stage)
    stage->ended = list_own_pages(stage->after, stage->scratch);
}

} // namespace troupe::zygote
