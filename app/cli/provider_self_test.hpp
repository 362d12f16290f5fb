#pragma once

#include "app/assembly/provider_options.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/engine/credential_source.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "runtime/settings/settings.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// One thing that was tried at a real service, and what came of it.
struct trial_step {
  std::string name;
  std::string detail; // what was seen, or why not and what to do
  bool fine = false;
  std::chrono::milliseconds took{};
};
using step_sink = std::function<void(const trial_step&)>;

/// Proves the credentials and the way to one provider with what the engine
/// itself uses: asks for the sandboxes there, then carries out a Python tool, a
/// TypeScript tool and a command in sandboxes of their own, then in one more
/// all that the provider does beside runs (files and so on), then looks whether
/// any is left. Ends at the first step that fails. True: all is well.
bool try_provider(const provider_account& at, const step_sink& tell);

/// Asks the credentials webhook once; names are shown, values never.
bool try_webhook(const settings& s, const step_sink& tell);

/// What a provider still has of ours, by the leases in `book`; ended unless
/// `dry_run`.
result<std::vector<tagged_sandbox>>
collect_leftovers(const provider_account& at, std::shared_ptr<lease_book> book,
                  bool dry_run);

} // namespace troupe
