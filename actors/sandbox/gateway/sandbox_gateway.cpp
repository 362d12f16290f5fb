#include "actors/sandbox/gateway/sandbox_gateway.hpp"

namespace troupe {

namespace {

sandbox_error no_places() {
  return {sandbox_problem::place_unavailable, ec::unavailable,
          "this engine has no place for sandboxes; switch a provider on"};
}

/// Why a sandbox that was waited for does not run.
sandbox_error never_ran(const sandbox_record& r) {
  const auto why = r.failure ? ": " + r.failure->text : std::string{};
  if (r.end == sandbox_end::queue_timeout)
    return {sandbox_problem::queue_full, ec::exhausted,
            r.failure ? r.failure->text : "no room became free in time",
            std::chrono::seconds{5}};
  if (r.end == sandbox_end::start_failed)
    return {sandbox_problem::start_failed,
            r.failure ? r.failure->code : ec::unavailable,
            "the sandbox could not be made" + why, std::chrono::seconds{1}};
  return {sandbox_problem::sandbox_ended, ec::not_found,
          "the sandbox was deleted before it ran"};
}

} // namespace

// -- life ---------------------------------------------------------------------

void sandbox_gateway::create(caller who, sandbox_spec what,
                             done<sandbox_record_ptr> then) {
  if (services_->options.places.empty())
    return then(no_places());
  auto routes = context_->routes.load();
  if (!routes)
    return then(sandbox_error{fail(ec::unavailable, "the engine has stopped")});
  const bool waits = what.wait_until_running;
  const bool joins = !what.session.empty(); // one that may be paused
  auto settled = [then](sandbox_result<sandbox_record_ptr> came) {
    if (came && (*came)->state != sandbox_state::running)
      then(never_ran(**came));
    else
      then(std::move(came));
  };
  auto accepted = [this, who, waits, joins, then, settled = std::move(settled)](
                    sandbox_result<sandbox_record_ptr> came) {
    if (!came || !waits)
      return then(std::move(came));
    if (joins)
      return connect(who, (*came)->id, std::nullopt, settled);
    tell<sandbox_record_ptr>(who, (*came)->id, settled, ready_v);
  };
  create_order order;
  order.who = std::move(who);
  order.spec = std::make_shared<const sandbox_spec>(std::move(what));
  ask<record_answer>(*context_->router, request_options{0}, routes->sandboxes,
                     answering<sandbox_record_ptr>(std::move(accepted)),
                     create_v, std::move(order));
}

void sandbox_gateway::find(caller who, sandbox_id id,
                           done<sandbox_record_ptr> then) {
  auto mine = own(who, id);
  if (!mine)
    return then(mine.error());
  if (mine->record->state == sandbox_state::deleted)
    return then(sandbox_error{sandbox_problem::sandbox_ended, ec::not_found,
                              "the sandbox has ended ("
                                + std::string{to_string(mine->record->end)}
                                + "); create another one"});
  then(std::move(mine->record));
}

void sandbox_gateway::list(caller who, sandbox_filter which,
                           done<page<sandbox_record_ptr>> then) {
  if (services_->options.places.empty())
    return then(page<sandbox_record_ptr>{});
  auto routes = context_->routes.load();
  if (!routes)
    return then(sandbox_error{fail(ec::unavailable, "the engine has stopped")});
  list_order order;
  order.organization = who.organization;
  order.which = std::make_shared<const sandbox_filter>(std::move(which));
  using page_ptr = std::shared_ptr<const page<sandbox_record_ptr>>;
  ask<records_answer>(
    *context_->router, request_options{0}, routes->sandboxes,
    answering<page_ptr>(copying<page<sandbox_record_ptr>>(std::move(then))),
    list_v, std::move(order));
}

void sandbox_gateway::renew(caller who, sandbox_id id,
                            std::chrono::milliseconds timeout,
                            done<sandbox_record_ptr> then) {
  if (auto why = too_long(timeout))
    return then(std::move(*why));
  tell<sandbox_record_ptr>(who, id, std::move(then), renew_v,
                           renew_order{timeout});
}

std::optional<sandbox_error> sandbox_gateway::too_long(
  std::optional<std::chrono::milliseconds> timeout) const {
  const auto longest = services_->options.rules.max_life;
  if (!timeout || *timeout <= longest)
    return std::nullopt;
  return sandbox_error{bad_field("/timeout",
                                 "is more than sandbox.max-life, "
                                   + std::to_string(longest.count() / 1'000)
                                   + " seconds",
                                 "renew more often")};
}

void sandbox_gateway::connect(caller who, sandbox_id id,
                              std::optional<std::chrono::milliseconds> timeout,
                              done<sandbox_record_ptr> then) {
  if (auto why = too_long(timeout))
    return then(std::move(*why));
  tell<sandbox_record_ptr>(who, id, std::move(then), connect_v,
                           connect_order{timeout});
}

void sandbox_gateway::change(caller who, sandbox_id id, sandbox_change what,
                             done<sandbox_record_ptr> then) {
  if (auto why = too_long(what.timeout))
    return then(std::move(*why));
  patch_order order;
  order.what = std::make_shared<const sandbox_change>(std::move(what));
  tell<sandbox_record_ptr>(who, id, std::move(then), change_v,
                           std::move(order));
}

void sandbox_gateway::pause(caller who, sandbox_id id,
                            done<sandbox_record_ptr> then) {
  tell<sandbox_record_ptr>(who, id, std::move(then), pause_v);
}

void sandbox_gateway::resume(caller who, sandbox_id id,
                             done<sandbox_record_ptr> then) {
  tell<sandbox_record_ptr>(who, id, std::move(then), resume_v);
}

void sandbox_gateway::events(caller who, sandbox_id id,
                             done<sandbox_events_ptr> then) {
  auto mine = own(who, id);
  if (!mine)
    return then(mine.error());
  then(sandbox_events_ptr{mine->events});
}

void sandbox_gateway::remove(caller who, sandbox_id id, done<void> then) {
  tell<sandbox_record_ptr>(who, id,
                           without_value<sandbox_record_ptr>(std::move(then)),
                           remove_v, remove_order{});
}

// -- processes ----------------------------------------------------------------

void sandbox_gateway::start(caller who, sandbox_id id, process_spec what,
                            done<sandbox_program_ptr> then) {
  start_order order;
  order.what = std::make_shared<const process_spec>(std::move(what));
  tell<sandbox_program_ptr>(who, id, std::move(then), start_v,
                            std::move(order));
}

void sandbox_gateway::find_process(caller who, sandbox_id id,
                                   std::string process,
                                   done<sandbox_program_ptr> then) {
  tell<sandbox_program_ptr>(who, id, std::move(then), find_v,
                            process_reference{std::move(process)});
}

void sandbox_gateway::list_processes(
  caller who, sandbox_id id, done<std::vector<sandbox_program_ptr>> then) {
  using list = std::vector<sandbox_program_ptr>;
  tell<std::shared_ptr<const list>>(who, id, copying<list>(std::move(then)),
                                    list_v);
}

void sandbox_gateway::remove_process(caller who, sandbox_id id,
                                     std::string process, done<void> then) {
  tell<sandbox_program_ptr>(who, id,
                            without_value<sandbox_program_ptr>(std::move(then)),
                            remove_v, process_reference{std::move(process)});
}

// -- ports --------------------------------------------------------------------

void sandbox_gateway::connect(caller who, sandbox_id id, std::uint16_t port,
                              done<unique_fd> then) {
  auto call = [port](sandbox_provider& at, const sandbox_handle& box,
                     call_scope scope) {
    return at.connect(box, port, std::move(scope));
  };
  auto listens = [then = std::move(then)](sandbox_result<unique_fd> came) {
    if (!came && came.error().problem == sandbox_problem::none
        && came.error().code == ec::conflict)
      return then(sandbox_error{sandbox_problem::nothing_listens,
                                ec::unavailable, came.error().text});
    then(std::move(came));
  };
  at_place<unique_fd>(who, id, checked_call{has_ports, std::move(call)},
                      std::move(listens), patience());
}

void sandbox_gateway::list_ports(caller who, sandbox_id id,
                                 done<std::vector<std::uint16_t>> then) {
  auto call = [](sandbox_provider& at, const sandbox_handle& box,
                 call_scope scope) { return at.ports(box, std::move(scope)); };
  at_place<std::vector<std::uint16_t>>(who, id,
                                       checked_call{has_ports, std::move(call)},
                                       std::move(then), patience());
}

// -- files --------------------------------------------------------------------

void sandbox_gateway::read_file(caller who, sandbox_id id, std::string path,
                                done<std::string> then) {
  auto bounded = [then = std::move(then)](sandbox_result<std::string> came) {
    if (came && came->size() > bounds::sandbox_file_bytes)
      return then(sandbox_error{
        bad_field("?path", "is a file of more than 64 MiB",
                  "read a part of it with exec, by head, tail or dd")});
    then(std::move(came));
  };
  with_files<std::string>(
    who, id,
    [path](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      return files.read(box, path, std::move(scope));
    },
    std::move(bounded));
}

void sandbox_gateway::write_file(caller who, sandbox_id id, std::string path,
                                 std::string bytes, done<void> then) {
  auto file = std::make_shared<sandbox_file>(
    sandbox_file{std::move(path), std::move(bytes)});
  with_files<void>(
    who, id,
    [file](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      std::vector<sandbox_file> all;
      all.push_back(std::move(*file));
      return files.write(box, std::move(all), std::move(scope));
    },
    std::move(then));
}

void sandbox_gateway::list_files(caller who, sandbox_id id, std::string path,
                                 done<std::vector<sandbox_entry>> then) {
  with_files<std::vector<sandbox_entry>>(
    who, id,
    [path](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      return files.list(box, path, std::move(scope));
    },
    std::move(then));
}

void sandbox_gateway::stat_file(caller who, sandbox_id id, std::string path,
                                done<sandbox_entry> then) {
  with_files<sandbox_entry>(
    who, id,
    [path](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      return files.stat(box, path, std::move(scope));
    },
    std::move(then));
}

void sandbox_gateway::make_folder(caller who, sandbox_id id, std::string path,
                                  done<void> then) {
  with_files<void>(
    who, id,
    [path](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      return files.make_folder(box, path, std::move(scope));
    },
    std::move(then));
}

void sandbox_gateway::move_file(caller who, sandbox_id id, std::string from,
                                std::string to, done<void> then) {
  with_files<void>(
    who, id,
    [from, to](sandbox_files& files, const sandbox_handle& box,
               call_scope scope) {
      return files.move(box, from, to, std::move(scope));
    },
    std::move(then));
}

void sandbox_gateway::remove_file(caller who, sandbox_id id, std::string path,
                                  done<void> then) {
  with_files<void>(
    who, id,
    [path](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      return files.remove(box, path, std::move(scope));
    },
    std::move(then));
}

} // namespace troupe
