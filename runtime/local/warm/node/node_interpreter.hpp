#pragma once

#include "runtime/local/warm/node/napi.hpp"
#include "runtime/local/warm/process/interpreter.hpp"

#include <signal.h>

namespace troupe::zygote {

/// Node, forked: a child returns into JavaScript, and its event loop spins.
/// The other threads of its parent do not exist in it; nothing that a run
/// does asks for them, since V8 was told to be single-threaded.
class node_interpreter final : public interpreter {
public:
  explicit node_interpreter(uv_loop_s* loop);

  bool may_have_threads() const override { return true; }
  void enter_slot(int null) override;
  pid_t fork() override { return ::fork(); } // libuv renews a pipe in it
  void live(packet order, descriptors& with, int preforked) override;

  /// In a child that was forked by a `prefork` order: waits for its `run`.
  /// False: it is to warm itself first, and to wait again.
  bool wait_for_run();
  bool is_preforked() const { return preforked_ >= 0; }

private:
  void take_run(const packet& order, const descriptors& with);
  void close_all_but(int keep);
  void renew_placeholders();

  static constexpr int most_descriptors = 64;
  uv_loop_s* loop_;
  sigset_t mask_;
  int own_[most_descriptors]; // what Node has open, or had; ascending
  int count_ = 0;
  int bells_[most_descriptors]; // of them, what wakes a thread
  int bell_count_ = 0;
  int preforked_ = -1;
  bool warmed_ = false;
};

} // namespace troupe::zygote
