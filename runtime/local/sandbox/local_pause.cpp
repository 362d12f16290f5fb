// Sandboxes that stand still: the warden freezes their group.
#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <cerrno>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// Between two questions whether all of it stands still.
constexpr std::chrono::milliseconds ask_again_in{1};

error why_not_still(int number) {
  if (number == ENOTSUP)
    return fail(ec::unavailable,
                "this host has no control groups that can be frozen: mount "
                "cgroup v2, or let the engine use the freezer of v1");
  return fail(ec::unavailable,
              "pause a sandbox: " + std::string{std::strerror(number)});
}

} // namespace

asio::awaitable<int> local_sandboxes::ask_about(std::uint64_t sandbox,
                                                warden::word what,
                                                call_scope scope) {
  warden::message m;
  m.what = what;
  m.of = sandbox;
  std::vector<unique_fd> none;
  std::function<void(bool)> heard;
  const auto said = co_await ask_warden(std::move(m), std::move(none), scope,
                                        std::move(heard));
  co_return said.failure.ok() ? 0 : said.failure.error;
}

/// Asks until all of it does.
asio::awaitable<result<void>> local_sandboxes::hold_still(entry_ptr sandbox,
                                                          call_scope scope) {
  int error = 0;
  for (;;) {
    error = co_await ask_about(sandbox->number, warden::word::freeze, scope);
    if (error != EAGAIN || std::chrono::steady_clock::now() >= scope.deadline)
      break;
    co_await rest(ask_again_in);
  }
  if (sandbox->gone)
    co_return *sandbox->gone;
  if (error == 0)
    co_return result<void>{};
  call_scope back{std::chrono::steady_clock::now() + std::chrono::seconds{1},
                  nullptr};
  (void)co_await ask_about(sandbox->number, warden::word::thaw, back);
  co_return why_not_still(error);
}

asio::awaitable<result<void>>
local_sandboxes::pause(const sandbox_handle& sandbox,
                       std::chrono::seconds lifetime, call_scope scope) {
  auto self = shared_from_this();
  auto found = find(sandbox);
  if (!found)
    co_return found.error();
  auto paused = *found;
  auto still = co_await hold_still(paused, scope);
  if (still)
    set_lifetime(*paused, lifetime);
  co_return still;
}

asio::awaitable<result<void>>
local_sandboxes::resume(const sandbox_handle& sandbox,
                        std::chrono::seconds lifetime, call_scope scope) {
  auto self = shared_from_this();
  auto found = find(sandbox);
  if (!found)
    co_return found.error();
  auto resumed = *found;
  const int error
    = co_await ask_about(resumed->number, warden::word::thaw, scope);
  // That not all of it goes on yet is fine: it is on its way.
  if (error != 0 && error != EAGAIN)
    co_return fail(ec::unavailable,
                   "resume a sandbox: " + std::string{std::strerror(error)});
  set_lifetime(*resumed, lifetime);
  co_return result<void>{};
}

} // namespace troupe
