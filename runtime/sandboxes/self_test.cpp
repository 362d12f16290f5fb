#include "runtime/sandboxes/self_test.hpp"

#include "runtime/model/ids.hpp"

namespace troupe {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto lifetime = 10min; // then it ends, whatever becomes of us
constexpr auto end_patience = 30s;

sandbox_lease lease_for(const sandbox_provider& where,
                        const sandbox_request& wanted) {
  sandbox_lease lease;
  lease.tag = make_uuid();
  lease.provider = where.backend();
  lease.organization = wanted.organization;
  lease.run = wanted.run;
  lease.written_at = std::chrono::time_point_cast<timestamp::duration>(
    std::chrono::system_clock::now());
  return lease;
}

/// What a provider says may repeat what it was told.
error masked(error why, const sandbox_provider& where) {
  for (const auto& each : where.secrets())
    mask_secret(why.text, each);
  return why;
}

asio::awaitable<bool> run_all(std::shared_ptr<sandbox_provider> where,
                              sandbox_handle in, self_test_sink tell,
                              call_scope scope) {
  auto all = where->self_tests();
  for (const auto& each : all) {
    auto told = co_await each.run(in, scope);
    if (!told) {
      tell(each.name, masked(told.error(), *where));
      co_return false;
    }
    tell(each.name, told);
  }
  co_return true;
}

} // namespace

asio::awaitable<bool> run_self_tests(std::shared_ptr<sandbox_provider> where,
                                     sandbox_request wanted,
                                     std::shared_ptr<lease_book> book,
                                     self_test_sink tell, call_scope scope) {
  auto lease = lease_for(*where, wanted);
  if (auto noted = book->write(lease); !noted) {
    tell("lease", noted.error());
    co_return false;
  }
  wanted.tag = lease.tag;
  wanted.lifetime = lifetime;
  auto made = co_await where->create(std::move(wanted), scope);
  auto fine = made.sandbox.has_value();
  sandbox_handle box;
  box.id = made.left_behind;
  if (fine) {
    box = std::move(*made.sandbox);
    fine = co_await run_all(where, box, tell, scope);
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

} // namespace troupe
