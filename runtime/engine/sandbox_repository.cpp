#include "runtime/engine/sandbox_repository.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::size_t longest_output = 4'096;
constexpr std::chrono::seconds time_to_end{10};

/// It asks nobody, and what a repository brings is not run while it is cloned.
process_request clone_command(const git_source& from) {
  process_request what;
  what.argv = {"git", "-c", "core.hooksPath=/dev/null", "clone", "--quiet"};
  if (from.depth > 0)
    what.argv.push_back("--depth=" + std::to_string(from.depth));
  if (!from.branch.empty())
    what.argv.push_back("--branch=" + from.branch);
  what.argv.insert(what.argv.end(), {"--", from.url});
  if (!from.path.empty())
    what.argv.push_back(from.path);
  what.env = {{"GIT_TERMINAL_PROMPT", "0"}};
  return what;
}

std::string last_line(std::string_view text) {
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  return std::string{text.substr(text.rfind('\n') + 1)};
}

error not_cloned(const process_outcome& how, std::string_view said) {
  const auto why = how.end ? last_line(said) : how.end.error().text;
  return bad_field("/git", "was not cloned: " + why,
                   "see that the sandbox has git, and that its network policy "
                   "names the host");
}

} // namespace

boost::asio::awaitable<sandbox_creation>
create_sandbox(std::shared_ptr<sandbox_provider> provider,
               sandbox_request wanted, std::optional<git_source> git,
               call_scope scope) {
  auto made = co_await provider->create(std::move(wanted), scope);
  if (!git || !made.sandbox)
    co_return made;
  std::string said;
  output_sink sink = [&said](output_stream, std::string_view text) {
    said
      += text.substr(0, longest_output - std::min(longest_output, said.size()));
  };
  auto command = clone_command(*git);
  auto cloned = co_await provider->execute(*made.sandbox, std::move(command),
                                           sink, scope);
  if (cloned.end && !cloned.end->signaled && cloned.end->exit_code == 0)
    co_return made;
  call_scope rest{std::chrono::steady_clock::now() + time_to_end, nullptr};
  auto gone = co_await provider->destroy(*made.sandbox, rest);
  co_return sandbox_creation{not_cloned(cloned, said), !gone,
                             gone ? std::string{} : made.sandbox->id};
}

} // namespace troupe
