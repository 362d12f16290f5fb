// A context that is saved, so that others go on from there. On the executor of
// its place.
#include "actors/sandbox/live_context.hpp"
#include "actors/sandbox/place_call.hpp"

#include <utility>

namespace troupe {

namespace {

constexpr std::chrono::seconds longest_save{20};

sandbox_error not_branchable(std::string why) {
  return {sandbox_problem::context_not_branchable, ec::conflict,
          std::move(why)};
}

sandbox_error from_place(const error& why) {
  return why.code == ec::conflict ? not_branchable(why.text)
                                  : sandbox_error{why};
}

} // namespace

void live_context::save(std::function<void()> begun,
                        sandbox_handler<saved_context_ptr> then) {
  boost::asio::post(around_.place.executor,
                    [self = shared_from_this(), begun = std::move(begun),
                     then = std::move(then)] { self->save_now(begun, then); });
}

void live_context::save_now(std::function<void()> begun,
                            sandbox_handler<saved_context_ptr> then) {
  if (what_.language != context_language::python)
    return then(not_branchable("a context of "
                               + std::string{to_string(what_.language)}
                               + " cannot be branched, only one of python"));
  if (!kernel_ || starting_ || restarts_)
    return then(not_branchable("the context is not ready"));
  if (current_ || saving_)
    return then(not_branchable("a cell runs in the context; wait for its end"));
  auto saved = std::make_shared<saved_context>();
  saved->id = id_;
  saved->what = what_;
  {
    std::lock_guard lock{mutex_};
    saved->is_default = record_.is_default;
    saved->execution_count = record_.execution_count;
  }
  saving_ = true;
  using came_of_it = result<kernel_image_ptr>;
  call_scope scope{std::chrono::steady_clock::now() + longest_save, nullptr};
  scope.begun = std::move(begun);
  auto work = [provider = around_.place.provider, box = around_.box,
               kernel = kernel_, scope = std::move(scope)] {
    return provider->save_kernel(*box, kernel, scope);
  };
  call_place<came_of_it>(
    around_.place.executor, std::move(work),
    [self = shared_from_this(), saved,
     then = std::move(then)](std::optional<came_of_it> came) {
      self->saving_ = false;
      self->pump();
      if (!came)
        return then(sandbox_error{place_threw()});
      if (!*came)
        return then(from_place(came->error()));
      saved->image = std::move(**came);
      then(saved_context_ptr{saved});
    });
}

void live_context::when_lost_known(
  sandbox_handler<std::vector<std::string>> then) {
  when_ready([self = shared_from_this(),
              then = std::move(then)](sandbox_result<void> ready) {
    if (ready)
      then(self->lost_);
    else
      then(ready.error());
  });
}

} // namespace troupe
