// What `exec` costs beyond the place: gateway, actor, window, record.
#include "actors/engine/engine_host.hpp"
#include "bench/sandboxes/machine.hpp"

namespace troupe::bench {

namespace {

constexpr std::size_t calls = 300;

template <class T>
T answer_of(const std::function<void(sandbox_handler<T>)>& call) {
  auto promise = std::make_shared<std::promise<sandbox_result<T>>>();
  auto answer = promise->get_future();
  call([promise](sandbox_result<T> came) { promise->set_value(came); });
  auto came = answer.get();
  demand(came.has_value(), "an answer of the engine");
  return *came;
}

caller ourselves() {
  caller who;
  who.organization = default_organization();
  who.user = default_user();
  return who;
}

void execute_through(sandbox_engine& engine, const sandbox_id& id) {
  process_spec what;
  what.argv = {"/bin/true"};
  auto process = answer_of<sandbox_program_ptr>(
    [&](sandbox_handler<sandbox_program_ptr> t) {
      engine.start(ourselves(), id, what, std::move(t));
    });
  auto over = std::make_shared<std::promise<void>>();
  auto ended = over->get_future();
  process->when_ended([over] { over->set_value(); });
  ended.wait();
}

} // namespace

void measure_engine_part(report& out) {
  sandbox_machine here;
  engine_options options;
  options.sandboxes.places.push_back({backend_kind::local, here.provider(),
                                      here.backend().strand(), 100,
                                      network_policy{network_mode::off, {}}});
  auto opened = open_engine(std::move(options));
  demand(opened.has_value(), "an engine");
  auto& engine = (*opened)->sandboxes();
  const auto record
    = answer_of<sandbox_record_ptr>([&](sandbox_handler<sandbox_record_ptr> t) {
        engine.create(ourselves(), sandbox_spec{}, std::move(t));
      });
  const auto bare = here.make();
  // The processor's time of this process: the others do the same either way.
  std::vector<double> through, without;
  for (int round = 0; round < 6; ++round) {
    const auto measure = [](const work& one) {
      const auto before = cpu_seconds();
      for (std::size_t i = 0; i < calls; ++i)
        one();
      return (cpu_seconds() - before) / static_cast<double>(calls) * 1e6;
    };
    through.push_back(measure([&] { execute_through(engine, record->id); }));
    without.push_back(measure([&] { here.run(bare, {"/bin/true"}); }));
  }
  out.add("sandboxes.execute.cpu_at_the_place", median(without), "us");
  out.at_most("sandboxes.execute.cpu_of_the_engine",
              std::max(0.0, median(through) - median(without)), "us", 20);
  (*opened)->stop();
}

} // namespace troupe::bench
