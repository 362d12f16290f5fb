#include "runtime/local/warm/warden_provisioner.hpp"

#include "runtime/local/launch/sandbox_abi.hpp"

#include <cstring>
#include <filesystem>

namespace troupe {

namespace {

error unavailable(std::string text) {
  error e;
  e.code = ec::unavailable;
  e.text = std::move(text);
  return e;
}

error why_not(const warden::end_notice& notice) {
  return unavailable(!notice.detail.empty()
                       ? notice.detail
                       : "step " + std::string{to_string(notice.failure.at)}
                         + ": " + std::strerror(notice.failure.error));
}

result<zygote::slot_sandbox> to_sandbox(const warden::lease_grant& grant,
                                        std::vector<unique_fd> files) {
  zygote::slot_sandbox g;
  g.ticket = grant.ticket;
  g.clone_flags = grant.clone_flags;
  g.new_user = grant.new_user;
  g.privileged = grant.privileged;
  g.namespaces_per_run = grant.namespaces_per_run;
  g.uid = grant.uid;
  g.gid = grant.gid;
  const auto wanted = std::size_t{1} + grant.groups + grant.has_peak
    + grant.has_events + grant.has_forks + grant.has_cpu;
  if (files.size() != wanted)
    return unavailable("the warden's lease came without its descriptors");
  auto next = files.begin();
  g.plan = std::move(*next++);
  for (int i = 0; i < grant.groups; ++i)
    g.groups.push_back(std::move(*next++));
  if (grant.has_peak)
    g.peak = std::move(*next++);
  if (grant.has_events)
    g.events = std::move(*next++);
  if (grant.has_forks)
    g.forks = std::move(*next++);
  if (grant.has_cpu)
    g.cpu = std::move(*next++);
  return g;
}

} // namespace

void warden_provisioner::prepare(
  const launch& like, std::function<void(result<zygote::slot_sandbox>)> done) {
  auto keeper = keeper_.lock();
  warden::message m;
  m.what = warden::word::lease;
  m.start.level = like.run->isolation;
  m.start.limits = like.run->limits;
  if (!like.working_dir.empty())
    m.start.working_dir = like.working_dir;
  m.start.shown = like.shown;
  m.start.notify_network = keeper && keeper->brokers(*like.run);
  auto then
    = [done, run = like.run, brokered = m.start.notify_network,
       weak = keeper_](warden::message answer, std::vector<unique_fd> files) {
        if (answer.what != warden::word::leased)
          return done(why_not(answer.end));
        auto sandbox = to_sandbox(answer.grant, std::move(files));
        auto keeper = weak.lock();
        if (sandbox && keeper) {
          sandbox->report = keeper->report_for(run->isolation);
          if (auto note = keeper->network_note(*run); !note.empty())
            sandbox->notes.push_back(std::move(note));
          if (brokered)
            sandbox->network = {run->network, keeper->broker_options(),
                                run->organization, weak};
        } else if (keeper)
          keeper->release(answer.grant.ticket);
        done(std::move(sandbox));
      };
  if (!keeper || keeper->ask(std::move(m), {}, std::move(then)) == 0)
    done(unavailable("the warden is not running at the moment"));
}

void warden_provisioner::release(std::uint64_t ticket,
                                 std::function<void()> gone) {
  if (auto keeper = keeper_.lock())
    keeper->release(ticket, std::move(gone));
  else if (gone)
    gone();
}

std::uint64_t
warden_provisioner::spawn_interpreter(std::vector<std::string> argv,
                                      unique_fd control,
                                      std::function<void(error)> failed) {
  auto keeper = keeper_.lock();
  warden::message m;
  m.what = warden::word::spawn_interpreter;
  m.argv = std::move(argv);
  std::vector<unique_fd> files;
  files.push_back(std::move(control));
  auto then = [failed](warden::message answer, std::vector<unique_fd>) {
    failed(answer.end.failure.ok() ? unavailable("the interpreter ended")
                                   : why_not(answer.end));
  };
  const auto number
    = keeper ? keeper->ask(std::move(m), std::move(files), std::move(then)) : 0;
  if (number == 0)
    failed(unavailable("the warden is not running at the moment"));
  return number;
}

void warden_provisioner::kill_interpreter(std::uint64_t number) {
  if (auto keeper = keeper_.lock())
    keeper->kill_child(number);
}

std::unique_ptr<zygote::warm_launcher> make_warm_launcher(
  boost::asio::any_io_executor strand, const zygote::zygote_options& options,
  zygote::warm_launcher::paths which, const std::string& directory,
  std::string runners, std::weak_ptr<cold_launcher> keeper) {
  auto where = std::move(which);
  where.runners = std::move(runners);
  where.runners_inside = abi::runners;
  where.home = directory; // the warden begins interpreters there
  // Profiles are kept per host because they outlive the instance. The venv
  // interpreter lies inside the instance directory and changes on every start,
  // so it gets none.
  if (!where.for_venvs)
    where.profiles = std::filesystem::path{directory}.parent_path();
  if (!zygote::install(directory, where))
    return nullptr;
  return std::make_unique<zygote::warm_launcher>(
    std::move(strand), options, std::move(where),
    std::make_shared<warden_provisioner>(keeper), keeper);
}

} // namespace troupe
