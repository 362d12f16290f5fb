#include "actors/sandbox/gateway/context_gateway.hpp"

namespace troupe {

void context_gateway::create(caller who, sandbox_id in, context_spec what,
                             done<sandbox_context_ptr> then) {
  auto begun = [then](sandbox_result<sandbox_context_ptr> came) {
    if (!came)
      return then(came.error());
    auto context = *came;
    context->when_ready([then, context](sandbox_result<void> ready) {
      if (ready)
        then(context);
      else
        then(ready.error());
    });
  };
  context_order order{std::make_shared<const context_spec>(std::move(what))};
  tell<sandbox_context_ptr>(who, in, std::move(begun), start_v,
                            std::move(order));
}

void context_gateway::find(caller who, sandbox_id in, std::string context,
                           done<sandbox_context_ptr> then) {
  tell<sandbox_context_ptr>(who, in, std::move(then), find_v,
                            context_reference{std::move(context)});
}

void context_gateway::list(caller who, sandbox_id in,
                           done<std::vector<sandbox_context_ptr>> then) {
  using all = std::vector<sandbox_context_ptr>;
  tell<std::shared_ptr<const all>>(who, in, copying<all>(std::move(then)),
                                   list_v, context_reference{});
}

void context_gateway::remove(caller who, sandbox_id in, std::string context,
                             done<void> then) {
  tell<sandbox_context_ptr>(who, in,
                            without_value<sandbox_context_ptr>(std::move(then)),
                            remove_v, context_reference{std::move(context)});
}

void context_gateway::run(caller who, sandbox_id in, context_choice where,
                          cell_spec what, done<sandbox_cell_ptr> then) {
  cell_order order{std::move(where),
                   std::make_shared<const cell_spec>(std::move(what))};
  tell<sandbox_cell_ptr>(who, in, std::move(then), start_v, std::move(order));
}

} // namespace troupe
