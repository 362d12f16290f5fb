// A context that goes on in other sandboxes, beside making a sandbox in one
// shot: until the context has said in the new one that it is ready.
#include "bench/sandboxes/machine.hpp"
#include "runtime/engine/sandbox_kernel.hpp"

#include <boost/asio/post.hpp>

#include <fstream>
#include <optional>

namespace troupe::bench {

namespace {

constexpr std::size_t rounds = 12;
constexpr std::size_t many = 100;
constexpr std::size_t rounds_of_many = 3;

const std::vector<std::string> one_shot{
  "bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true"};

call_scope soon() {
  return {clock::now() + std::chrono::seconds{30}, {}};
}

std::uint64_t available_bytes() {
  std::ifstream file{"/proc/meminfo"};
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (file >> name >> kib >> unit)
    if (name == "MemAvailable:")
      return kib << 10;
  return 0;
}

class branches_of {
public:
  branches_of(sandbox_machine& here, const std::string& state)
      : here_{here}, parent_{here.make()} {
    auto done = std::make_shared<std::promise<bool>>();
    kernel_events events;
    events.done = [done](kernel_answer how) {
      done->set_value(how.status == cell_status::ok);
    };
    auto begun = here_.call(
      here_.provider()->start_kernel(parent_, {}, std::move(events), soon()));
    demand(begun.has_value(), "an interpreter in a sandbox");
    kernel_ = *begun;
    boost::asio::post(here_.backend().strand(), [this, &state] {
      demand(kernel_->run(state).has_value(), "a cell");
    });
    demand(done->get_future().get(), "some state");
  }
  ~branches_of() { here_.destroy(parent_); }

  /// As a call for branches does it: files are put away and sandboxes made
  /// while the context is written.
  void make(std::size_t count) {
    auto begun = std::make_shared<std::promise<void>>();
    auto scope = soon();
    scope.begun = [begun] { begun->set_value(); };
    std::promise<result<kernel_image_ptr>> promise;
    auto image = promise.get_future();
    boost::asio::co_spawn(here_.backend().strand(),
                          save(this, std::move(scope), std::move(promise)),
                          boost::asio::detached);
    begun->get_future().get();
    auto snapshot = here_.call(here_.provider()->snapshot(parent_, soon()));
    demand(snapshot.has_value(), "a snapshot");
    side_by_side(count, [&] { return one_sandbox(this, snapshot->id); });
    image_ = image.get();
    demand(image_->has_value(), "an image of a context");
    std::size_t next = 0;
    side_by_side(count, [&] { return one_context(this, next++); });
    image_.reset();
    demand(here_.call(here_.provider()->forget_snapshot(snapshot->id, soon()))
             .has_value(),
           "a snapshot's end");
  }
  void end_all() {
    for (const auto& each : made_)
      here_.destroy(each);
    made_.clear();
    kernels_.clear();
  }

private:
  template <class Make>
  void side_by_side(std::size_t count, Make make) {
    std::vector<std::future<bool>> all;
    auto keep = [](boost::asio::awaitable<bool> it,
                   std::promise<bool> to) -> boost::asio::awaitable<void> {
      to.set_value(co_await std::move(it));
    };
    for (std::size_t i = 0; i < count; ++i) {
      std::promise<bool> promise;
      all.push_back(promise.get_future());
      boost::asio::co_spawn(here_.backend().strand(),
                            keep(make(), std::move(promise)),
                            boost::asio::detached);
    }
    for (auto& each : all)
      demand(each.get(), "a branch");
  }
  static boost::asio::awaitable<void>
  save(branches_of* self, call_scope scope,
       std::promise<result<kernel_image_ptr>> to) {
    to.set_value(co_await self->here_.provider()->save_kernel(
      self->parent_, self->kernel_, std::move(scope)));
  }
  static boost::asio::awaitable<bool> one_sandbox(branches_of* self,
                                                  std::string snapshot) {
    auto wanted = sandbox_machine::request();
    wanted.snapshot = std::move(snapshot);
    auto made
      = co_await self->here_.provider()->create(std::move(wanted), soon());
    if (made.sandbox)
      self->made_.push_back(*made.sandbox);
    co_return made.sandbox.has_value();
  }
  static boost::asio::awaitable<bool> one_context(branches_of* self,
                                                  std::size_t number) {
    kernel_request what;
    what.image = **self->image_;
    kernel_events none;
    auto begun = co_await self->here_.provider()->start_kernel(
      self->made_[number], std::move(what), std::move(none), soon());
    if (begun)
      self->kernels_.push_back(*begun);
    co_return begun.has_value();
  }

  sandbox_machine& here_;
  sandbox_handle parent_;
  std::shared_ptr<sandbox_kernel> kernel_;
  std::vector<sandbox_handle> made_; // on the strand, but for `end_all`
  std::vector<std::shared_ptr<sandbox_kernel>> kernels_;
  std::optional<result<kernel_image_ptr>> image_;
};

} // namespace

void measure_branches(report& out) {
  sandbox_machine here;
  branches_of small{here, "x = 1"};
  branches_of large{here, "import os\nx = os.urandom(1 << 20) * 20"};
  std::vector<double> shots, of_nothing, of_20_mb, of_many;
  for (std::size_t i = 0; i < rounds; ++i) {
    shots.push_back(seconds([] { spawn_and_wait(one_shot); }));
    of_nothing.push_back(seconds([&] { small.make(1); }));
    small.end_all();
    of_20_mb.push_back(seconds([&] { large.make(1); }));
    large.end_all();
  }
  std::vector<double> memory;
  for (std::size_t i = 0; i < rounds_of_many; ++i) {
    const auto before = available_bytes();
    of_many.push_back(seconds([&] { large.make(many); }));
    const auto after = available_bytes();
    memory.push_back(before > after
                       ? static_cast<double>(before - after) / many / (1 << 20)
                       : 0);
    large.end_all();
  }
  const auto ms = [](const std::vector<double>& s) { return median(s) * 1e3; };
  out.add("branches.of_nothing.p50", ms(of_nothing), "ms");
  out.add("branches.of_20_mb.p50", ms(of_20_mb), "ms");
  out.at_most("branches.of_20_mb.vs_bwrap", median_ratio(of_20_mb, shots), "x",
              1.5);
  out.at_most("branches.100_at_once", ms(of_many), "ms", 400);
  out.at_most("branches.100_at_once.memory", median(memory), "MiB", 4);
  out.note("branches: of a context of Python with 20 MB of bytes, sandbox "
           "included, until it can take a cell there; memory: what a hundred "
           "take of the host's, each, their sandboxes and the shared image "
           "included");
}

} // namespace troupe::bench
