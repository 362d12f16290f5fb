#pragma once

#include "actors/sandbox/gateway/context_gateway.hpp"
#include "actors/sandbox/gateway/tree_gateway.hpp"

namespace troupe {

/// Living sandboxes as front doors see them: a call becomes a message to the
/// sandbox's actor, which is found in the index, and what concerns files goes
/// on from there to the place. Thread-safe; no call blocks.
class sandbox_gateway final : public sandbox_engine, private place_calls {
public:
  sandbox_gateway(context_ptr context, sandbox_services_ptr services)
      : place_calls{context, services}, contexts_{*this, context, services},
        trees_{std::move(context), std::move(services)} {}

  void create(caller who, sandbox_spec what,
              done<sandbox_record_ptr> then) override;
  void find(caller who, sandbox_id id, done<sandbox_record_ptr> then) override;
  void list(caller who, sandbox_filter which,
            done<page<sandbox_record_ptr>> then) override;
  void renew(caller who, sandbox_id id, std::chrono::milliseconds timeout,
             done<sandbox_record_ptr> then) override;
  void connect(caller who, sandbox_id id,
               std::optional<std::chrono::milliseconds> timeout,
               done<sandbox_record_ptr> then) override;
  void change(caller who, sandbox_id id, sandbox_change what,
              done<sandbox_record_ptr> then) override;
  void pause(caller who, sandbox_id id, done<sandbox_record_ptr> then) override;
  void resume(caller who, sandbox_id id,
              done<sandbox_record_ptr> then) override;
  void events(caller who, sandbox_id id,
              done<sandbox_events_ptr> then) override;
  void remove(caller who, sandbox_id id, done<void> then) override;

  void snapshot(caller who, sandbox_id id, std::string name,
                done<snapshot_record_ptr> then) override;
  void list_snapshots(caller who,
                      done<std::vector<snapshot_record_ptr>> then) override;
  void find_snapshot(caller who, std::string which,
                     done<snapshot_record_ptr> then) override;
  void remove_snapshot(caller who, std::string which, done<void> then) override;
  void rollback(caller who, sandbox_id id, std::string snapshot,
                done<sandbox_record_ptr> then) override;
  void fork(caller who, sandbox_id id, fork_spec what,
            done<forks> then) override;

  void start(caller who, sandbox_id id, process_spec what,
             done<sandbox_program_ptr> then) override;
  void find_process(caller who, sandbox_id id, std::string process,
                    done<sandbox_program_ptr> then) override;
  void list_processes(caller who, sandbox_id id,
                      done<std::vector<sandbox_program_ptr>> then) override;
  void remove_process(caller who, sandbox_id id, std::string process,
                      done<void> then) override;

  sandbox_contexts* contexts() override { return &contexts_; }
  sandbox_trees* trees() override { return &trees_; }

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
  /// Why a timeout is longer than any life; nothing: it is not.
  std::optional<sandbox_error>
  too_long(std::optional<std::chrono::milliseconds> timeout) const;

  context_gateway contexts_;
  tree_gateway trees_;
};

} // namespace troupe
