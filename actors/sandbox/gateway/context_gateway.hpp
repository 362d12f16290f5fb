#pragma once

#include "actors/sandbox/gateway/sandbox_calls.hpp"
#include "runtime/engine/sandbox_contexts.hpp"

namespace troupe {

/// The contexts of living sandboxes as front doors see them. Thread-safe; no
/// call blocks.
class context_gateway final : public sandbox_contexts, private sandbox_calls {
public:
  /// `sandboxes` is the whole of it.
  context_gateway(sandbox_engine& sandboxes, context_ptr context,
                  sandbox_services_ptr services)
      : sandbox_calls{std::move(context), std::move(services)}, sandboxes_{
                                                                  sandboxes} {}

  void create(caller who, sandbox_id in, context_spec what,
              done<sandbox_context_ptr> then) override;
  void find(caller who, sandbox_id in, std::string context,
            done<sandbox_context_ptr> then) override;
  void list(caller who, sandbox_id in,
            done<std::vector<sandbox_context_ptr>> then) override;
  void remove(caller who, sandbox_id in, std::string context,
              done<void> then) override;
  void run(caller who, sandbox_id in, context_choice where, cell_spec what,
           done<sandbox_cell_ptr> then) override;
  void branch(caller who, sandbox_id id, branch_spec what,
              done<sandbox_branches> then) override;

private:
  friend class branching;
  sandbox_engine& sandboxes_;
};

} // namespace troupe
