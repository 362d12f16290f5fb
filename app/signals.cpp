#include "app/signals.hpp"

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

int stop_signals::wait() const {
  int number = 0;
  while (sigwait(&set_, &number) != 0) {
  }
  return number;
}

void stop_signals::stop_waiting() const {
  pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
}

} // namespace troupe
