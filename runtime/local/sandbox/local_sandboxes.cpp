#include "runtime/local/sandbox/local_sandboxes.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/sandbox/images/image_file.hpp"
#include "runtime/model/ids.hpp"

#include <boost/asio/post.hpp>

#include <cerrno>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// What this machine cannot do yet is refused before anything exists.
result<void> check_packages(const sandbox_request& wanted) {
  if (!wanted.pip_requirements.empty() || !wanted.npm_requirements.empty())
    return bad_field("/packages",
                     "sandboxes on this machine are made without packages",
                     "run pip or npm in it, or use another provider");
  return {};
}

error why_gone(const warden::end_notice& how, bool was_ready) {
  if (how.failure.ok() || was_ready)
    return fail(ec::unavailable, "the sandbox is lost: its keeper has ended");
  if (how.failure.at == isolation::step::open_sources
      && how.failure.error == ENOENT)
    return fail(ec::not_found, how.detail);
  auto text = how.detail.empty()
    ? "step " + std::string{to_string(how.failure.at)} + ": "
      + std::strerror(how.failure.error)
    : how.detail;
  return fail(ec::unavailable, "make a sandbox: " + text);
}

} // namespace

std::shared_ptr<local_sandboxes>
local_sandboxes::make(asio::any_io_executor executor,
                      std::shared_ptr<cold_launcher> wardens,
                      local_sandbox_options options) {
  return std::shared_ptr<local_sandboxes>{
    new local_sandboxes{std::move(executor), std::move(wardens), options}};
}

local_sandboxes::local_sandboxes(asio::any_io_executor executor,
                                 std::shared_ptr<cold_launcher> wardens,
                                 local_sandbox_options options)
    : executor_{executor}, wardens_{std::move(wardens)}, options_{options},
      prepare_timer_{executor},
      files_{std::move(executor),
             [this](const sandbox_handle& in) -> result<living_files::place> {
               auto found = find(in);
               if (!found)
                 return found.error();
               return living_files::place{(*found)->sandbox, (*found)->hands};
             }} {
  layers_->most = options.snapshot_bytes;
}

local_sandboxes::~local_sandboxes() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [id, one] : entries_)
    numbers.push_back(one->number);
  if (!numbers.empty())
    asio::post(executor_, [wardens = wardens_, numbers] {
      for (const auto number : numbers)
        wardens->kill_child(number);
    });
}

sandbox_capabilities local_sandboxes::capabilities() const {
  return {.outlives_engine = false,
          .reuse = true,
          .renew = true,
          .processes = true,
          .terminals = true,
          .contexts = true,
          .ports = true,
          .pause = true,
          .snapshots = true,
          .set_network = true,
          .branches = images::available()};
}

result<void> local_sandboxes::ready() const {
  if (auto why = wardens_->trouble(); !why.empty())
    return fail(ec::unavailable, std::move(why));
  return {};
}

isolation_report local_sandboxes::report() const {
  auto report = wardens_->report_for(isolation_level::standard);
  for (auto& layer : report.layers)
    if (layer.name == "landlock") {
      layer.state = layer_state::absent;
      layer.reason = "the tree of a sandbox is its own";
    }
  return report;
}

asio::awaitable<sandbox_creation>
local_sandboxes::create(sandbox_request wanted, call_scope scope) {
  auto self = shared_from_this();
  if (auto fine = check_packages(wanted); !fine)
    co_return sandbox_creation{fine.error(), false};
  if (auto fine = check(wanted.network); !fine)
    co_return sandbox_creation{fine.error(), false};
  auto stack = stack_of(wanted.snapshot, wanted.limits);
  if (!stack)
    co_return sandbox_creation{stack.error(), false};
  auto sandbox = take_prepared(wanted);
  if (!sandbox) {
    auto ordered = order(wanted.limits, std::move(*stack));
    if (!ordered)
      co_return sandbox_creation{ordered.error(), false};
    sandbox = *ordered;
  }
  sandbox->is_given = true;
  sandbox->network = {wanted.organization, wanted.network,
                      wanted.network.mode != network_mode::off};
  sandbox->tag = wanted.tag;
  sandbox->lost = std::move(wanted.lost);
  auto ready = sandbox->ready;
  const bool told = co_await ready->wait(scope);
  if (!told) {
    auto why = not_in_time(scope, "making a sandbox");
    kill(*sandbox, why);
    co_return sandbox_creation{why, true, sandbox->id};
  }
  if (sandbox->gone)
    co_return sandbox_creation{*sandbox->gone, false};
  prepare_later();
  set_lifetime(*sandbox, wanted.lifetime);
  sandbox_handle made{sandbox->id};
  made.env = std::move(wanted.env);
  made.shared = wanted.shared();
  co_return sandbox_creation{std::move(made), false};
}

result<local_sandboxes::entry_ptr>
local_sandboxes::order(const troupe::limits& limits, layer_stack stack) {
  auto [mine, its] = make_packet_pair();
  if (!mine)
    return fail(ec::exhausted, "no descriptors are left for another sandbox");
  auto made = std::make_shared<entry>();
  made->id = "sb_" + make_uuid();
  made->limits = limits;
  made->ready = std::make_shared<call_wait>(executor_);
  made->ended = std::make_shared<call_wait>(executor_);
  made->sandbox = std::make_shared<living_sandbox>(executor_, std::move(mine));
  warden::message m;
  m.what = warden::word::keep;
  m.start.limits = limits;
  m.start.cpus = options_.cpus;
  m.start.limits.disk_bytes -= bytes_of(stack); // see `stack_of`
  for (const auto& layer : stack)
    m.start.layers.push_back(layer->number());
  made->stack = std::move(stack);
  std::vector<unique_fd> files;
  files.push_back(std::move(its));
  made->number = wardens_->ask(
    std::move(m), std::move(files),
    [weak = weak_from_this(), made](warden::message said, auto&&) {
      if (auto self = weak.lock())
        self->mark_gone(made, said.end);
      else
        made->sandbox->end(why_gone(said.end, true));
    });
  if (made->number == 0)
    return fail(ec::unavailable,
                wardens_->trouble().empty() ? "the local backend is stopping"
                                            : wardens_->trouble());
  entries_.emplace(made->id, made);
  made->sandbox->listen(what_it_tells(made));
  return made;
}

living_sandbox::handler
local_sandboxes::what_it_tells(const entry_ptr& sandbox) {
  living_sandbox::handler told;
  told.ready = [weak = std::weak_ptr{sandbox}] {
    if (auto that = weak.lock()) {
      that->is_ready = true;
      that->ready->tell();
    }
  };
  told.stuck = [weak = weak_from_this(), which = std::weak_ptr{sandbox}] {
    auto self = weak.lock();
    auto that = which.lock();
    if (self && that)
      self->kill(*that,
                 fail(ec::unavailable,
                      "the sandbox is lost: a process in it could not be "
                      "ended"));
  };
  told.listener = [weak = weak_from_this(),
                   which = std::weak_ptr{sandbox}](unique_fd listener) {
    auto self = weak.lock();
    auto that = which.lock();
    if (self && that && !that->gone)
      self->broker_calls(that->network, std::move(listener));
  };
  return told;
}

void local_sandboxes::mark_gone(const entry_ptr& sandbox,
                                const warden::end_notice& how) {
  std::erase(prepared_, sandbox);
  // One that was cut keeps what it has until another keeper has it.
  const bool goes_on = sandbox->is_cut && !sandbox->is_replaced;
  if (!goes_on) {
    entries_.erase(sandbox->id);
    sandbox->stack.clear();
    sandbox->lifetime.reset();
  }
  if (!sandbox->gone) {
    sandbox->gone = why_gone(how, sandbox->is_ready);
    if (sandbox->is_ready && sandbox->lost && !sandbox->is_cut)
      sandbox->lost(*sandbox->gone);
  }
  sandbox->hands->waiting.clear();
  sandbox->network.broker.reset();
  sandbox->sandbox->end(*sandbox->gone);
  sandbox->ready->tell();
  sandbox->ended->tell();
}

void local_sandboxes::kill(entry& sandbox, error why) {
  sandbox.is_unwanted = true;
  sandbox.is_unwanted = true;
  if (sandbox.gone)
    return;
  sandbox.gone = why;
  sandbox.lifetime.reset();
  wardens_->kill_child(sandbox.number);
}

void local_sandboxes::set_lifetime(entry& sandbox,
                                   std::chrono::seconds lifetime) {
  if (lifetime.count() <= 0)
    return;
  sandbox.lifetime = std::make_unique<asio::steady_timer>(executor_, lifetime);
  sandbox.lifetime->async_wait([weak = weak_from_this(), id = sandbox.id](
                                 boost::system::error_code code) {
    auto self = weak.lock();
    if (code || !self)
      return;
    if (auto i = self->entries_.find(id); i != self->entries_.end()) {
      auto ended = i->second;
      self->kill(*ended, fail(ec::not_found, "the sandbox's lifetime is over"));
    }
  });
}

result<local_sandboxes::entry_ptr>
local_sandboxes::find(const sandbox_handle& sandbox) const {
  auto i = entries_.find(sandbox.id);
  if (i == entries_.end() || !i->second->is_given)
    return fail(ec::not_found, "there is no sandbox " + sandbox.id);
  if (i->second->gone)
    return *i->second->gone;
  return i->second;
}

asio::awaitable<result<sandbox_handle>>
local_sandboxes::reconnect(sandbox_handle sandbox,
                           std::chrono::seconds lifetime, call_scope) {
  auto found = find(sandbox);
  if (!found)
    co_return fail(ec::not_found, found.error().text);
  set_lifetime(**found, lifetime);
  co_return std::move(sandbox);
}

asio::awaitable<result<void>>
local_sandboxes::destroy(const sandbox_handle& sandbox, call_scope scope) {
  auto self = shared_from_this();
  auto i = entries_.find(sandbox.id);
  if (i == entries_.end() || !i->second->is_given)
    co_return result<void>{};
  auto ended = i->second;
  kill(*ended, fail(ec::not_found, "the sandbox was destroyed"));
  auto gone = ended->ended;
  const bool told = co_await gone->wait(scope);
  if (!told)
    co_return not_in_time(scope, "the end of a sandbox");
  co_return result<void>{};
}

asio::awaitable<result<std::vector<tagged_sandbox>>>
local_sandboxes::list(call_scope) {
  std::vector<tagged_sandbox> all;
  for (const auto& [id, one] : entries_)
    if (!one->gone && one->is_given)
      all.push_back({id, one->tag});
  co_return all;
}

} // namespace troupe
