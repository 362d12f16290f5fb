#include "runtime/local/local_backend.hpp"

#include "runtime/local/local_backend_impl.hpp"
#include "runtime/local/schema_run.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <fstream>
#include <iterator>

namespace troupe {

std::string runner_directory(const warden::instance& instance) {
  return instance.directory() + "/runners";
}

error stopping_error() {
  return {ec::unavailable, "the local backend is stopping", {}, {}};
}

/// A program without the warden's line in its main would start itself without
/// end.
result<void> refuse_to_be_the_warden() {
  std::ifstream file{"/proc/self/cmdline", std::ios::binary};
  std::string command_line{std::istreambuf_iterator<char>{file}, {}};
  if (!warden::is_warden(command_line))
    return {};
  return error{ec::internal,
               "this program was started as the warden of its sandboxes but "
               "opens an engine; call troupe::api::begin first in main",
               {},
               {}};
}

// -- opening and closing

result<std::shared_ptr<local_backend>>
local_backend::open(asio::any_io_executor executor, local_options options) {
  if (auto fit = refuse_to_be_the_warden(); !fit)
    return fit.error();
  if (options.state_dir.empty())
    options.state_dir = warden::default_state_dir();
  auto instance = warden::instance::claim(options.state_dir);
  if (!instance)
    return instance.error();
  if (auto written = script::install_runners(runner_directory(*instance));
      !written)
    return written.error().within("install the runner programs");
  auto self = std::make_shared<impl>(std::move(executor), std::move(options),
                                     std::move(*instance));
  if (auto opened = self->open(); !opened)
    return opened.error();
  return std::shared_ptr<local_backend>{new local_backend{std::move(self)}};
}

result<void> local_backend::impl::open() {
  found = find_interpreters(options);
  tasks->open();
  asio::post(strand, [self = shared_from_this()] {
    self->launchers->cold().open([self](
                                   result<isolation::probe_report> report) {
      if (report)
        self->launchers->warm_up(self->found, runner_directory(self->instance));
      if (report)
        self->probe.succeed(std::move(*report));
      else
        self->probe.fail(report.error().text);
      asio::post(self->strand, [self] { self->pump(); });
    });
  });
  return {};
}

local_backend::local_backend(std::shared_ptr<impl> self)
    : impl_{std::move(self)} {}

local_backend::~local_backend() {
  stop();
}

void local_backend::stop() {
  if (impl_->stopped.exchange(true))
    return;
  auto done = std::make_shared<std::promise<void>>();
  auto finished = done->get_future();
  asio::post(impl_->strand,
             [self = impl_, done] { self->stop(std::move(done)); });
  // An executor that no longer runs cannot end anything in order; then the
  // warden sees our end of the socket close and cleans up by itself.
  finished.wait_for(2 * impl_->options.kill_grace);
}

void local_backend::impl::stop(std::shared_ptr<std::promise<void>> done) {
  stopping = true;
  stop_waiters.push_back(std::move(done));
  for (auto& run : std::exchange(waiting, {}))
    run->fail(stopping_error());
  launchers->stop();
  auto all = running; // ending may change the map
  for (auto& [id, run] : all)
    run->end(exit_reason::cancelled);
  close_if_idle();
}

void local_backend::impl::close_if_idle() {
  if (!stopping || closing || !running.empty())
    return;
  closing = true;
  tasks->close();
  launchers->cold().close([self = shared_from_this()] {
    for (auto& waiter : std::exchange(self->stop_waiters, {}))
      waiter->set_value();
  });
}

// -- from any thread

void local_backend::start(prepared_run_ptr run, run_observer_ptr observer) {
  auto made = std::make_shared<local_run>(impl_->strand, std::move(run),
                                          std::move(observer),
                                          impl_->options.end_on_output_limit);
  impl_->tasks->put([self = impl_, made = std::move(made)]() mutable {
    self->accept(std::move(made));
  });
}

void local_backend::derive(language lang, std::string source,
                           std::string function, handler<derived_schema> done) {
  auto made
    = make_schema_run(impl_->strand, impl_->options.isolation, lang,
                      std::move(source), std::move(function), std::move(done));
  asio::post(impl_->strand, [self = impl_, made = std::move(made)]() mutable {
    self->accept(std::move(made));
  });
}

void local_backend::cancel(const run_id& id, exit_reason reason) {
  impl_->tasks->put([self = impl_, id, reason] { self->cancel(id, reason); });
}

result<void> local_backend::ready() const {
  return impl_->probe.allows(impl_->options.isolation);
}

result<void> local_backend::wait_until_probed() const {
  impl_->probe.wait();
  return ready();
}

isolation::probe_report local_backend::probe() const {
  return impl_->probe.report();
}

template <class Ask>
auto local_backend::ask_launchers(Ask ask) const {
  std::promise<decltype(ask(*impl_->launchers))> answer;
  auto got = answer.get_future();
  asio::dispatch(impl_->strand,
                 [&] { answer.set_value(ask(*impl_->launchers)); });
  return got.get();
}

int local_backend::warden_pid() const {
  return ask_launchers([](auto& all) { return all.cold().warden_pid(); });
}

zygote::slot_counts local_backend::slots(zygote::family of) const {
  return ask_launchers([of](auto& all) { return all.slots(of); });
}

zygote::slot_counts local_backend::slots_of_venvs() const {
  return ask_launchers([](auto& all) { return all.slots_of_venvs(); });
}

ready_counts local_backend::ready_nodes() const {
  return ask_launchers([](auto& all) { return all.prestarted_nodes(); });
}

const std::string& local_backend::instance_directory() const {
  return impl_->instance.directory();
}

void local_backend::add_carrier(std::unique_ptr<launcher> carrier) {
  asio::post(impl_->strand,
             [self = impl_, carrier = std::move(carrier)]() mutable {
               self->launchers->add(std::move(carrier));
             });
}

std::shared_ptr<cold_launcher> local_backend::wardens() const {
  return impl_->launchers->cold().shared_from_this();
}

boost::asio::any_io_executor local_backend::strand() const {
  return impl_->strand;
}

} // namespace troupe
