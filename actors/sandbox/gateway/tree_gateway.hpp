#pragma once

#include "actors/sandbox/gateway/place_calls.hpp"
#include "runtime/engine/sandbox_trees.hpp"

namespace troupe {

/// Parts and trees of the files of living sandboxes as front doors see them.
/// Thread-safe; no call blocks.
class tree_gateway final : public sandbox_trees, private place_calls {
public:
  tree_gateway(context_ptr context, sandbox_services_ptr services)
      : place_calls{std::move(context), std::move(services)} {}

  void read_part(caller who, sandbox_id id, std::string path, byte_range which,
                 done<file_part> then) override;
  void search(caller who, sandbox_id id, file_search what,
              done<files_found> then) override;
  void pack(caller who, sandbox_id id, std::string path, unique_fd to,
            done<archive_count> then) override;
  void unpack(caller who, sandbox_id id, std::string path, unique_fd from,
              done<archive_count> then) override;
  void watch(caller who, sandbox_id id, std::string path, bool deep,
             done<sandbox_watch_ptr> then) override;

private:
  using transfer_call = sandbox_files::later<archive_count> (sandbox_files::*)(
    sandbox_handle, std::string, unique_fd, call_scope);
  void transfer(const caller& who, const sandbox_id& id, transfer_call call,
                std::string path, unique_fd stream, done<archive_count> then);
};

} // namespace troupe
