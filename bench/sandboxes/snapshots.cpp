// What is put away as layers, beside making a sandbox in one shot: what others
// call a sandbox, its end included.
#include "bench/sandboxes/machine.hpp"

#include <unistd.h>

namespace troupe::bench {

namespace {

constexpr std::size_t cuts = 10;
constexpr std::size_t forks = 10;

const std::vector<std::string> one_shot{
  "bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true"};

call_scope soon() {
  return {clock::now() + std::chrono::seconds{30}, {}};
}

class snapshots_of {
public:
  explicit snapshots_of(sandbox_machine& here)
      : here_{here}, provider_{here.provider()} {}

  sandbox_handle make(std::string snapshot) {
    auto wanted = sandbox_machine::request();
    wanted.snapshot = std::move(snapshot);
    return here_.make(std::move(wanted));
  }
  void pause_and_resume(const sandbox_handle& in) {
    constexpr std::chrono::minutes lifetime{10};
    demand(here_.call(provider_->pause(in, lifetime, soon())).has_value()
             && here_.call(provider_->resume(in, lifetime, soon())).has_value(),
           "a pause");
  }
  std::string take(const sandbox_handle& of) {
    auto made = here_.call(provider_->snapshot(of, soon()));
    demand(made.has_value() && !made->copied, "a snapshot");
    return made->id;
  }
  void forget(const std::string& snapshot) {
    demand(here_.call(provider_->forget_snapshot(snapshot, soon())).has_value(),
           "a snapshot's end");
  }
  void write_files(const sandbox_handle& in, int count) {
    here_.run(in,
              {"/bin/sh", "-c",
               "i=0; while [ $i -lt " + std::to_string(count)
                 + " ]; do echo $i > f$i; i=$((i+1)); done"});
  }

private:
  sandbox_machine& here_;
  std::shared_ptr<local_sandboxes> provider_;
};

void measure_snapshots(report& out) {
  if (::access("/usr/bin/bwrap", X_OK) != 0)
    return out.note("bubblewrap is not installed: it is what this area is "
                    "measured against");
  sandbox_machine here;
  snapshots_of all{here};
  std::vector<double> shots, small, large, forked, still;
  for (std::size_t i = 0; i < cuts; ++i) {
    auto few = here.make();
    all.write_files(few, 10);
    auto many = here.make();
    all.write_files(many, 2'000);
    shots.push_back(seconds([] { spawn_and_wait(one_shot); }));
    still.push_back(seconds([&] { all.pause_and_resume(few); }));
    std::string of_few, of_many;
    small.push_back(seconds([&] { of_few = all.take(few); }));
    large.push_back(seconds([&] { of_many = all.take(many); }));
    std::vector<sandbox_handle> made;
    forked.push_back(seconds([&] {
                       const auto snapshot = all.take(few);
                       for (std::size_t n = 0; n < forks; ++n)
                         made.push_back(all.make(snapshot));
                       all.forget(snapshot);
                     })
                     / forks);
    for (const auto& each : made)
      here.destroy(each);
    all.forget(of_few);
    all.forget(of_many);
    here.destroy(few);
    here.destroy(many);
  }
  const auto us = [](const std::vector<double>& s) { return median(s) * 1e6; };
  out.add("snapshots.bwrap.p50", us(shots), "us");
  out.add("snapshots.take.p50", us(small), "us");
  out.add("snapshots.fork.p50", us(forked), "us");
  out.add("snapshots.pause_and_resume.p50", us(still), "us");
  out.at_most("snapshots.pause.vs_bwrap", median_ratio(still, shots), "x", 0.3);
  out.at_most("snapshots.take.vs_bwrap", median_ratio(small, shots), "x", 0.5);
  out.at_most("snapshots.take.of_2000_files", median_ratio(large, small), "x",
              1.3);
  out.at_most("snapshots.fork.vs_bwrap", median_ratio(forked, shots), "x", 0.6);
  out.note("take: of a sandbox in which nothing runs, until it goes on; fork: "
           "of ten at once, each; bwrap: --unshare-all with /bin/true");
  measure_branches(out);
}

const area snapshots{"snapshots",
                     "pauses, snapshots, forks and branches of sandboxes",
                     measure_snapshots};

} // namespace

} // namespace troupe::bench
