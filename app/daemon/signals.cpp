#include "app/daemon/signals.hpp"

namespace troupe {

stop_signals::stop_signals() {
  sigemptyset(&set_);
  sigaddset(&set_, SIGINT);
  sigaddset(&set_, SIGTERM);
  struct sigaction now {};
  sigaction(SIGHUP, nullptr, &now);
  if (now.sa_handler != SIG_IGN)
    sigaddset(&set_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

stop_signals::arrival stop_signals::wait() const {
  siginfo_t what{};
  int number = -1;
  while ((number = ::sigwaitinfo(&set_, &what)) < 0) {
  }
  return {number, number == SIGHUP && what.si_code != SI_KERNEL};
}

void stop_signals::stop_waiting() const {
  pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
}

} // namespace troupe
