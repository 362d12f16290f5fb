#include "net/providers/self_test.hpp"

#include "net/providers/provider_errors.hpp"
#include "runtime/model/ids.hpp"

namespace troupe::net {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto lifetime = 10min; // then it ends, whatever becomes of us
constexpr auto end_patience = 30s;

sandbox_lease lease_for(const provider& where, const prepared_run& run) {
  sandbox_lease lease;
  lease.tag = make_uuid();
  lease.provider = where.kind();
  lease.organization = run.organization;
  lease.run = run.id;
  lease.written_at = std::chrono::time_point_cast<timestamp::duration>(
    std::chrono::system_clock::now());
  return lease;
}

/// What a provider says may repeat what it was told.
error masked(error why, const provider& where) {
  for (const auto& each : where.secrets())
    hide(why.text, each);
  return why;
}

asio::awaitable<bool> play_all(std::shared_ptr<provider> where,
                               remote_sandbox in, rehearsal_sink tell,
                               call_scope scope) {
  auto all = where->rehearsals();
  for (const auto& each : all) {
    auto told = co_await each.play(in, scope);
    if (!told) {
      tell(each.name, masked(told.error(), *where));
      co_return false;
    }
    tell(each.name, told);
  }
  co_return true;
}

} // namespace

asio::awaitable<bool> rehearse(std::shared_ptr<provider> where,
                               prepared_run_ptr run,
                               std::shared_ptr<lease_book> book,
                               rehearsal_sink tell, call_scope scope) {
  auto lease = lease_for(*where, *run);
  if (auto noted = book->write(lease); !noted) {
    tell("lease", noted.error());
    co_return false;
  }
  sandbox_request wish{run, lease.tag, lifetime};
  auto made = co_await where->create(std::move(wish), scope);
  auto fine = made.sandbox.has_value();
  remote_sandbox box;
  box.id = made.left_behind;
  if (fine) {
    box = std::move(*made.sandbox);
    fine = co_await play_all(where, box, tell, scope);
  } else {
    tell("sandbox", masked(made.sandbox.error(), *where));
  }
  // Also after a failure, and even when its time is over.
  scope.deadline = steady::now() + end_patience;
  result<void> gone;
  if (!box.id.empty())
    gone = co_await where->destroy(box, scope);
  if (!gone)
    tell("ending the sandbox", masked(gone.error(), *where));
  else if (!box.id.empty() || !made.may_exist)
    (void)book->release(lease.tag);
  co_return fine&& gone;
}

} // namespace troupe::net
