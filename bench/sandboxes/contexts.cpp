// Cells in contexts of a living sandbox, beside what an agent would do without
// one: a fresh interpreter for each cell.
#include "bench/sandboxes/machine.hpp"
#include "runtime/engine/sandbox_kernel.hpp"

#include <boost/asio/post.hpp>

namespace troupe::bench {

namespace {

constexpr std::size_t rounds = 60;

call_scope soon() {
  return {clock::now() + std::chrono::seconds{30}, {}};
}

/// An interpreter of a context, and how to run a cell in it.
work cells_in(sandbox_machine& here, const sandbox_handle& in,
              context_language language, std::string code) {
  auto done = std::make_shared<std::promise<bool>>();
  kernel_request wanted;
  wanted.language = language;
  kernel_events events;
  events.done = [done](kernel_answer how) {
    done->set_value(how.status == cell_status::ok);
  };
  auto begun
    = here.call(here.provider()->start_kernel(in, wanted, events, soon()));
  demand(begun.has_value(), "an interpreter in a sandbox");
  return [&here, done, kernel = *begun, code = std::move(code)] {
    *done = {};
    auto answer = done->get_future();
    boost::asio::post(here.backend().strand(),
                      [&] { demand(kernel->run(code).has_value(), "a cell"); });
    demand(answer.get(), "the end of a cell");
  };
}

void measure_contexts(report& out) {
  sandbox_machine here;
  auto living = here.make();
  const auto python = cells_in(here, living, context_language::python, "1+1");
  const auto bash = cells_in(here, living, context_language::bash, ":");
  const auto all
    = interleave(rounds,
                 {[] {
                    spawn_and_wait({"/usr/bin/python3", "-c", "1+1"});
                  },
                  python, bash, [] { spawn_and_wait({"/bin/true"}); }});
  const auto us = [](const std::vector<double>& s) { return median(s) * 1e6; };
  out.add("contexts.python.fresh.p50", us(all[0]), "us");
  out.add("contexts.python.cell.p50", us(all[1]), "us");
  out.add("contexts.bash.cell.p50", us(all[2]), "us");
  out.at_most("contexts.python.cell.vs_fresh", median_ratio(all[1], all[0]),
              "x", 0.04);
  out.at_most("contexts.bash.cell.vs_spawn", median_ratio(all[2], all[3]), "x",
              0.5);
  out.note(
    "a cell `1+1` in a Python context against `/usr/bin/python3 -c 1+1` on the "
    "host; `:` in one of bash against posix_spawn of /bin/true");
  here.destroy(living);
}

const area contexts{"contexts", "interpreters that keep their state",
                    measure_contexts};

} // namespace

} // namespace troupe::bench
