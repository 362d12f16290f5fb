#pragma once

#include "actors/context/engine_context.hpp"
#include "actors/sandbox/sandbox_services.hpp"
#include "runtime/engine/sandbox_engine.hpp"

namespace troupe {

/// Living sandboxes as front doors see them: a call becomes a message to the
/// sandbox's actor, which is found in the index, and what concerns files goes
/// on from there to the place. Thread-safe; no call blocks.
class sandbox_gateway final : public sandbox_engine {
public:
  sandbox_gateway(context_ptr context, sandbox_services_ptr services)
      : context_{std::move(context)}, services_{std::move(services)} {}

  void create(caller who, sandbox_spec what,
              done<sandbox_record_ptr> then) override;
  void find(caller who, sandbox_id id, done<sandbox_record_ptr> then) override;
  void list(caller who, sandbox_filter which,
            done<page<sandbox_record_ptr>> then) override;
  void renew(caller who, sandbox_id id, std::chrono::milliseconds timeout,
             done<sandbox_record_ptr> then) override;
  void remove(caller who, sandbox_id id, done<void> then) override;

  void start(caller who, sandbox_id id, process_spec what,
             done<sandbox_program_ptr> then) override;
  void find_process(caller who, sandbox_id id, std::string process,
                    done<sandbox_program_ptr> then) override;
  void list_processes(caller who, sandbox_id id,
                      done<std::vector<sandbox_program_ptr>> then) override;
  void remove_process(caller who, sandbox_id id, std::string process,
                      done<void> then) override;

  void connect(caller who, sandbox_id id, std::uint16_t port,
               done<unique_fd> then) override;
  void list_ports(caller who, sandbox_id id,
                  done<std::vector<std::uint16_t>> then) override;

  void read_file(caller who, sandbox_id id, std::string path,
                 done<std::string> then) override;
  void write_file(caller who, sandbox_id id, std::string path,
                  std::string bytes, done<void> then) override;
  void list_files(caller who, sandbox_id id, std::string path,
                  done<std::vector<sandbox_entry>> then) override;
  void stat_file(caller who, sandbox_id id, std::string path,
                 done<sandbox_entry> then) override;
  void make_folder(caller who, sandbox_id id, std::string path,
                   done<void> then) override;
  void move_file(caller who, sandbox_id id, std::string from, std::string to,
                 done<void> then) override;
  void remove_file(caller who, sandbox_id id, std::string path,
                   done<void> then) override;

private:
  using entry = sandbox_index::entry;

  /// The caller's own sandbox; one of another organization is not there.
  sandbox_result<entry> own(const caller& who, const sandbox_id& id) const;
  /// A message to the actor of the caller's sandbox.
  template <class T, class... Ts>
  void tell(const caller& who, const sandbox_id& id,
            std::function<void(sandbox_result<T>)> then, Ts&&... message);
  /// A call to the place, once the sandbox has let us in. `work` gets the
  /// provider, the sandbox's name there, and the scope.
  template <class T, class Work>
  void at_place(const caller& who, const sandbox_id& id, Work work,
                done<T> then);
  /// The same about files.
  template <class T, class Work>
  void with_files(const caller& who, const sandbox_id& id, Work work,
                  done<T> then);

  const context_ptr context_;
  const sandbox_services_ptr services_;
};

} // namespace troupe
