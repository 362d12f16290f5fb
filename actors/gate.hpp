#pragma once

#include "actors/front_desk.hpp"

namespace troupe {

/// The engine as other actors see it, here or far away. Keeps nothing: it
/// hands each message to a dispatcher or to the ledger and is out of it.
struct gate_state {
  static constexpr auto name = "gate";

  gate_actor::pointer self = nullptr;
  context_ptr context;

  result<taken_run> take_in(execution& what);
  template <class Answer, class Word>
  caf::result<Answer> pass_on(Word word, execution& what);
  caf::result<run_answer> run(execution& what);
  caf::result<run_note> start(execution& what);
  caf::result<run_note> cancel(const run_reference& which);
  caf::result<run_note> find(const run_reference& which);
};

gate_actor::behavior_type gate(gate_actor::stateful_pointer<gate_state> self,
                               context_ptr context);

} // namespace troupe
