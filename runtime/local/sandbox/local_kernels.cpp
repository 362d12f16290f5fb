// Interpreters of contexts in sandboxes of this machine.
#include "runtime/local/sandbox/contexts/kernel_program.hpp"
#include "runtime/local/sandbox/living_kernel.hpp"
#include "runtime/local/sandbox/local_images.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"

namespace troupe {

namespace asio = boost::asio;

namespace {

error never_ready(const std::string& program, const living_kernel& kernel,
                  const std::optional<process_end>& how) {
  auto text = program + " ended before it was ready";
  if (how && how->exit_code != 0)
    text += local_image::why_ended(how->exit_code);
  if (!kernel.first_words().empty())
    text += ": " + kernel.first_words();
  return fail(ec::unavailable, std::move(text));
}

error not_begun(const error& why, const std::string& program) {
  if (why.fields.empty() || why.fields.front().pointer != "/argv")
    return why;
  return bad_field("/language", "needs " + program + ", and: " + why.text,
                   "install it in the sandbox");
}

} // namespace

asio::awaitable<result<std::shared_ptr<sandbox_kernel>>>
local_sandboxes::start_kernel(const sandbox_handle& sandbox,
                              kernel_request what, kernel_events events,
                              call_scope scope) {
  auto self = shared_from_this();
  const auto wanted_kernel = what;
  const auto wanted_events = events;
  auto program
    = what.image ? local_image::program() : kernels::program_for(what.language);
  if (!program)
    co_return program.error();
  const std::string name
    = what.image ? "the saved interpreter" : program->argv.front();
  unique_fd image;
  if (what.image)
    if (image = local_image::open(what.image); !image)
      co_return fail(ec::unavailable, "the image cannot be opened");
  auto change = std::make_shared<call_wait>(executor_);
  auto is_ready = std::make_shared<bool>(false);
  auto how_ended = std::make_shared<std::optional<process_end>>();
  std::function<void()> ready = [change, is_ready] {
    *is_ready = true;
    change->tell();
  };
  // Told to this call while it waits, and to the caller from then on.
  events.ended = [change, told = std::move(events.ended), is_ready,
                  how_ended](result<process_end> how) {
    if (how)
      *how_ended = *how;
    change->tell();
    if (*is_ready && told)
      told(std::move(how));
  };
  unique_fd channel;
  auto kernel = living_kernel::make(executor_, std::move(events),
                                    std::move(ready), channel);
  if (!kernel)
    co_return kernel.error();
  process_request wanted;
  wanted.argv = program->argv;
  wanted.input = std::move(program->text);
  (*kernel)->allow_images(what.language == context_language::python);
  if (what.image) {
    (*kernel)->go_on(what.env);
  } else {
    wanted.cwd = std::move(what.cwd);
    wanted.env = std::move(what.env);
  }
  auto begun
    = begin(sandbox, std::move(wanted), false, (*kernel)->for_process(),
            std::move(channel), std::move(image));
  if (!begun) {
    (*kernel)->abandon();
    co_return begun.error();
  }
  (*kernel)->attach(begun->process);
  const bool executed = co_await begun->begun->wait(scope);
  if (executed && *begun->refused) {
    (*kernel)->abandon();
    co_return not_begun(**begun->refused, name);
  }
  const bool changed = co_await change->wait(scope);
  if (!changed || !*is_ready) {
    auto why = changed ? never_ready(name, **kernel, *how_ended)
                       : not_in_time(scope, "starting an interpreter");
    (*kernel)->abandon();
    if (*how_ended && local_image::needs_another((*how_ended)->exit_code)) {
      auto other
        = co_await start_kernel(sandbox, wanted_kernel, wanted_events, scope);
      co_return other;
    }
    co_return why;
  }
  co_return std::shared_ptr<sandbox_kernel>{*kernel};
}

} // namespace troupe
