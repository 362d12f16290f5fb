// Files of sandboxes at one moment, and sandboxes that are made from them.
#include "runtime/base/packet_socket.hpp"
#include "runtime/local/sandbox/inside/living_tree.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"
#include "runtime/model/ids.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// Hands of ours that are told to go need a moment.
constexpr std::chrono::milliseconds longest_wait_for_quiet{20};
constexpr std::chrono::milliseconds again_in{1};

/// Below it a shell cannot do anything.
constexpr std::uint64_t least_disk = 1u << 20;

error why_no_snapshot(int number) {
  switch (number) {
  case ENOTSUP:
    return fail(ec::unavailable,
                "sandboxes of this machine can be made from another one with "
                "Linux 6.15 and later only");
  case ENOSPC:
    return fail(ec::exhausted,
                "the snapshots of this machine would take more than "
                "sandbox.snapshot-bytes; delete one that is not needed");
  case EOVERFLOW:
    return fail(ec::exhausted,
                "folders of the sandbox are more than 200 deep, and something "
                "runs in it; end that, or remove them");
  case EPIPE:
    return fail(ec::unavailable, "the warden is being replaced");
  default:
    return fail(ec::unavailable,
                "take a snapshot: " + std::string{std::strerror(number)});
  }
}

error nothing_left() {
  return fail(ec::exhausted,
              "disk_limit: too little of the sandbox's disk would be left for "
              "what it writes after a snapshot; remove files, or make one with "
              "a larger disk");
}

int errno_of(const warden::end_notice& said) {
  if (said.failure.ok())
    return 0;
  return said.failure.error != 0 ? said.failure.error : EIO;
}

} // namespace

asio::awaitable<warden::end_notice>
local_sandboxes::ask_warden(warden::message m, std::vector<unique_fd> files,
                            call_scope scope, std::function<void(bool)> heard) {
  auto told = std::make_shared<call_wait>(executor_);
  auto answer = std::make_shared<warden::end_notice>();
  answer->failure = {isolation::step::order, EPIPE};
  auto given_up = std::make_shared<bool>(false);
  cold_launcher::answer hear
    = [told, answer, given_up, heard,
       wardens = wardens_](const warden::message& said, auto&&) {
        *answer = said.end;
        if (heard)
          heard(said.end.failure.ok());
        if (*given_up && said.end.layer_bytes > 0)
          wardens->drop_layer(said.end.ticket); // nobody takes it any more
        told->tell();
      };
  if (wardens_->ask(std::move(m), std::move(files), std::move(hear)) == 0)
    co_return *answer;
  const bool came = co_await told->wait(scope);
  if (came)
    co_return *answer;
  *given_up = true;
  warden::end_notice late;
  late.failure = {isolation::step::order, ETIMEDOUT};
  co_return late;
}

/// What a layer of it may have, so that it can go on.
std::uint64_t local_sandboxes::disk_left(const entry& sandbox) {
  const auto used = bytes_of(sandbox.stack) + least_disk;
  const auto all = sandbox.limits.disk_bytes;
  return all > used ? all - used : 0;
}

asio::awaitable<void> local_sandboxes::rest(std::chrono::milliseconds time) {
  asio::steady_timer timer{executor_, time};
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  co_await timer.async_wait(token);
}

/// What it has written becomes a layer as it is, and it ends. Null: something
/// runs in it.
asio::awaitable<result<local_sandboxes::layer_ptr>>
local_sandboxes::cut(entry_ptr sandbox, call_scope scope) {
  sandbox->hands->waiting.clear();
  int refused = EBUSY;
  const auto until = std::chrono::steady_clock::now() + longest_wait_for_quiet;
  warden::end_notice said;
  for (;;) {
    if (sandbox->hands->busy > 0 || sandbox->sandbox->is_busy())
      co_return layer_ptr{};
    warden::message m;
    m.what = warden::word::cut;
    m.of = sandbox->number;
    m.most = std::min(layers_->left(), disk_left(*sandbox));
    // Before its end can be heard of.
    std::function<void(bool)> heard
      = [sandbox](bool done) { sandbox->is_cut = done; };
    std::vector<unique_fd> none;
    said = co_await ask_warden(std::move(m), std::move(none), scope,
                               std::move(heard));
    refused = errno_of(said);
    if (refused != EBUSY || std::chrono::steady_clock::now() > until)
      break;
    co_await rest(again_in);
  }
  if (refused == EBUSY)
    co_return layer_ptr{};
  if (refused == ENOSPC && disk_left(*sandbox) < layers_->left())
    co_return nothing_left();
  if (refused != 0)
    co_return why_no_snapshot(refused);
  co_return layer_ptr{std::make_shared<const sandbox_layer>(
    wardens_, layers_, said.ticket, said.layer_bytes)};
}

/// What it has written so far, copied while it stands still.
asio::awaitable<result<local_sandboxes::layer_ptr>>
local_sandboxes::copy_written(entry_ptr sandbox, call_scope scope) {
  auto ends = make_packet_pair(); // it has nobody to talk to
  if (!ends.second)
    co_return fail(ec::exhausted, "no descriptors are left for a copy");
  if (layers_->left() < least_disk)
    co_return why_no_snapshot(ENOSPC);
  auto still = co_await hold_still(sandbox, scope);
  if (!still)
    co_return still.error();
  warden::message m;
  m.what = warden::word::keep;
  m.start.limits = sandbox->limits;
  m.start.limits.disk_bytes
    = std::min(m.start.limits.disk_bytes, layers_->left());
  m.start.copies = sandbox->number;
  std::vector<unique_fd> files;
  files.push_back(std::move(ends.second));
  std::function<void(bool)> heard;
  const auto said = co_await ask_warden(std::move(m), std::move(files), scope,
                                        std::move(heard));
  call_scope back{std::chrono::steady_clock::now() + std::chrono::seconds{1},
                  nullptr};
  (void)co_await ask_about(sandbox->number, warden::word::thaw, back);
  if (const int error = errno_of(said); error != 0)
    co_return why_no_snapshot(error);
  co_return layer_ptr{std::make_shared<const sandbox_layer>(
    wardens_, layers_, said.ticket, said.layer_bytes)};
}

/// Another keeper in place of the one of a sandbox, over these layers.
asio::awaitable<result<void>>
local_sandboxes::replace(entry_ptr old, layer_stack stack, call_scope scope) {
  old->is_replaced = true;
  const bool wanted = !old->is_unwanted; // it may have been destroyed meanwhile
  auto ordered = wanted
    ? order(old->limits, std::move(stack))
    : result<entry_ptr>{fail(ec::not_found, "the sandbox was destroyed")};
  if (!ordered) {
    const auto why = ordered.error();
    kill(*old, why);
    if (old->is_cut)
      entries_.erase(old->id);
    if (wanted && old->lost)
      std::exchange(old->lost, nullptr)(why);
    co_return why;
  }
  auto fresh = *ordered;
  entries_.erase(fresh->id);
  std::swap(fresh->id, old->id);
  fresh->tag = old->tag;
  fresh->network = {old->network.organization, old->network.policy,
                    old->network.policy.mode != network_mode::off};
  fresh->lifetime = std::move(old->lifetime);
  entries_[fresh->id] = fresh;
  if (!old->gone) // until nothing of it is left
    entries_[old->id] = old;
  kill(*old, fail(ec::not_found, "it was replaced"));
  fresh->lost = std::move(old->lost);
  fresh->is_given = true;
  auto ready = fresh->ready;
  const bool told = co_await ready->wait(scope);
  if (!told)
    kill(*fresh, not_in_time(scope, "making a sandbox anew"));
  if (!fresh->gone)
    co_return result<void>{};
  // Its caller thinks that it is there.
  if (fresh->lost)
    std::exchange(fresh->lost, nullptr)(*fresh->gone);
  co_return *fresh->gone;
}

asio::awaitable<result<place_snapshot>>
local_sandboxes::snapshot(const sandbox_handle& box, call_scope scope) {
  auto self = shared_from_this();
  auto found = find(box);
  if (!found)
    co_return found.error();
  auto sandbox = *found;
  if (sandbox->stack.size() >= isolation::max_layers)
    co_return fail(ec::exhausted,
                   "the sandbox was made from "
                     + std::to_string(isolation::max_layers)
                     + " snapshots, one on the other; make a new one and copy "
                       "the files that are needed");
  if (disk_left(*sandbox) == 0)
    co_return nothing_left();
  const auto began = std::chrono::steady_clock::now();
  place_snapshot made;
  auto stack = sandbox->stack;
  auto layer = co_await cut(sandbox, scope);
  if (!layer)
    co_return layer.error();
  if (*layer) {
    stack.insert(stack.begin(), *layer);
    auto replaced = co_await replace(sandbox, stack, scope);
    if (!replaced)
      co_return replaced.error();
  } else {
    made.copied = true;
    layer = co_await copy_written(sandbox, scope);
    if (!layer)
      co_return layer.error();
    stack.insert(stack.begin(), *layer);
  }
  made.stood_still = std::chrono::duration_cast<std::chrono::microseconds>(
    std::chrono::steady_clock::now() - began);
  made.bytes = (*layer)->bytes();
  made.id = "snap_" + make_uuid();
  snapshots_.emplace(made.id, std::move(stack));
  co_return made;
}

asio::awaitable<result<void>>
local_sandboxes::rollback(const sandbox_handle& box, std::string snapshot,
                          call_scope scope) {
  auto self = shared_from_this();
  auto found = find(box);
  if (!found)
    co_return found.error();
  auto stack = stack_of(snapshot, (*found)->limits);
  if (!stack)
    co_return stack.error();
  auto sandbox = *found;
  sandbox->hands->waiting.clear();
  auto replaced = co_await replace(sandbox, std::move(*stack), scope);
  co_return replaced;
}

asio::awaitable<result<void>>
local_sandboxes::forget_snapshot(std::string snapshot, call_scope) {
  snapshots_.erase(snapshot);
  co_return result<void>{};
}

result<layer_stack>
local_sandboxes::stack_of(const std::string& snapshot,
                          const troupe::limits& limits) const {
  if (snapshot.empty())
    return layer_stack{};
  const auto i = snapshots_.find(snapshot);
  if (i == snapshots_.end())
    return fail(ec::not_found, "the snapshot is not there any more");
  if (bytes_of(i->second) + least_disk >= limits.disk_bytes)
    return bad_field("/resources/disk_bytes",
                     "leaves nothing beside the snapshot, which has "
                       + std::to_string(bytes_of(i->second)) + " bytes",
                     "ask for more");
  return i->second;
}

} // namespace troupe
