#include "net/compat/e2b/inside_program.hpp"

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t whole_window = 64u << 20;
constexpr std::chrono::milliseconds patience{30'000};

program_answer answer_of(const sandbox_program& ended) {
  program_answer out;
  out.how = ended.record();
  auto said = ended.read(output_stream::out, 0, whole_window);
  auto complained = ended.read(output_stream::err, 0, whole_window);
  out.complete = said.missed == 0 && out.how.reason == process_reason::exited;
  out.out = std::move(said.bytes);
  out.err = std::move(complained.bytes);
  return out;
}

} // namespace

void run_inside(sandbox_engine& engine, const caller& who, const sandbox_id& id,
                process_spec what, sandbox_handler<program_answer> then) {
  what.tag = own_tag;
  what.timeout = patience;
  auto begun = [&engine, who, id, then = std::move(then)](
                 sandbox_result<sandbox_program_ptr> came) {
    if (!came)
      return then(came.error());
    const auto program = *came;
    program->when_ended([&engine, who, id, then, program] {
      auto answer = answer_of(*program);
      engine.remove_process(who, id, answer.how.id, [](const auto&) {});
      then(std::move(answer));
    });
  };
  engine.start(who, id, std::move(what), std::move(begun));
}

} // namespace troupe::net::e2b_facade
