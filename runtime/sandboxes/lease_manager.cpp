#include "runtime/sandboxes/lease_manager.hpp"

#include "runtime/base/trace_context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace troupe {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace {

using book_ptr = std::shared_ptr<lease_book>;

// Parameters live in the coroutine's frame; captures would not.
asio::awaitable<result<void>> write_in(book_ptr book, sandbox_lease lease) {
  co_return book->write(lease);
}

asio::awaitable<result<void>> confirm_in(book_ptr book, std::string tag,
                                         std::string sandbox) {
  co_return book->confirm(tag, sandbox);
}

asio::awaitable<result<void>> release_in(book_ptr book, std::string tag) {
  co_return book->release(tag);
}

asio::awaitable<std::vector<sandbox_lease>> list_in(book_ptr book,
                                                    backend_name kind) {
  co_return book->list(kind);
}

} // namespace

lease_manager::lease_manager(std::shared_ptr<sandbox_provider> where,
                             std::shared_ptr<lease_book> leases,
                             asio::any_io_executor executor,
                             lease_options options)
    : where_{std::move(where)}, leases_{std::move(leases)},
      executor_{std::move(executor)}, options_{options} {}

asio::awaitable<result<void>> lease_manager::write(sandbox_lease lease) {
  auto keep = shared_from_this();
  auto tag = lease.tag;
  tags_in_use_.insert(tag);
  auto work = write_in(leases_, std::move(lease));
  auto written
    = co_await asio::co_spawn(books_, std::move(work), asio::use_awaitable);
  if (!written)
    tags_in_use_.erase(tag);
  co_return written;
}

asio::awaitable<void> lease_manager::confirm(std::string tag,
                                             std::string sandbox) {
  auto keep = shared_from_this();
  auto work = confirm_in(leases_, std::move(tag), std::move(sandbox));
  // Lost, the tag still finds it.
  (void)co_await asio::co_spawn(books_, std::move(work), asio::use_awaitable);
}

asio::awaitable<void> lease_manager::release(std::string tag) {
  auto keep = shared_from_this();
  tags_in_use_.erase(tag);
  auto work = release_in(leases_, std::move(tag));
  // Lost, reconcile looks for it once more in vain.
  (void)co_await asio::co_spawn(books_, std::move(work), asio::use_awaitable);
}

asio::awaitable<bool> lease_manager::destroy(sandbox_handle box,
                                             std::string tag,
                                             std::string traceparent) {
  auto keep = shared_from_this();
  // A scope of its own: the run's may be over, its sandbox must go.
  call_scope scope{steady::now() + options_.destroy_timeout, nullptr,
                   std::move(traceparent)};
  auto gone = co_await where_->destroy(box, scope);
  if (gone)
    co_await release(std::move(tag));
  else
    leave(tag);
  co_return gone.has_value();
}

/// One lease nobody uses. Whether its sandbox is there: `orphans` tells.
asio::awaitable<bool>
lease_manager::settle(sandbox_lease lease, std::vector<tagged_sandbox> alive,
                      bool dry_run, const std::string& traceparent,
                      std::vector<tagged_sandbox>& orphans) {
  auto named = [&lease](const tagged_sandbox& t) {
    return t.tag == lease.tag
      || (!lease.sandbox.empty() && t.sandbox == lease.sandbox);
  };
  auto found = std::find_if(alive.begin(), alive.end(), named);
  sandbox_handle box;
  box.id = found == alive.end() ? lease.sandbox : found->sandbox;
  if (found != alive.end())
    orphans.push_back({found->sandbox, lease.tag});
  if (dry_run)
    co_return true;
  // One that a list does not show may be there all the same: ask by its name.
  if (!box.id.empty())
    co_return co_await destroy(std::move(box), lease.tag, traceparent);
  auto age = std::chrono::system_clock::now() - lease.written_at;
  if (age >= options_.forget_after)
    co_await release(lease.tag);
  co_return true;
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
lease_manager::reconcile(bool dry_run, std::shared_ptr<cancellation> abort) {
  auto keep = shared_from_this();
  call_scope scope{steady::now() + options_.destroy_timeout, std::move(abort),
                   known_or_new_trace({})};
  // The leases first: one that is written while we list is not forgotten.
  auto work = list_in(leases_, where_->backend());
  auto known
    = co_await asio::co_spawn(books_, std::move(work), asio::use_awaitable);
  std::erase_if(known, [this](const sandbox_lease& lease) {
    return tags_in_use_.contains(lease.tag);
  });
  std::vector<tagged_sandbox> orphans;
  if (known.empty())
    co_return orphans;
  auto alive = co_await where_->list(scope);
  if (!alive) {
    auto why = alive.error();
    for (const auto& each : where_->secrets())
      mask_secret(why.text, each);
    co_return why;
  }
  for (auto& lease : known)
    co_await settle(std::move(lease), *alive, dry_run, scope.traceparent,
                    orphans);
  co_return orphans;
}

} // namespace troupe
