#include "runtime/model/sandbox.hpp"

#include "runtime/base/random.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace troupe {

namespace {

/// Letters and digits, each as likely as any other.
std::string random_word(std::size_t length) {
  static constexpr std::string_view letters
    = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::uint8_t fair = 252; // the largest multiple of 36 in a byte
  std::string word;
  while (word.size() < length) {
    std::array<std::uint8_t, 32> some{};
    random_bytes(some);
    for (auto byte : some)
      if (byte < fair && word.size() < length)
        word += letters[byte % letters.size()];
  }
  return word;
}

bool is_sandbox_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

} // namespace

sandbox_id sandbox_id::make() {
  sandbox_id id;
  id.text_ = random_word(length);
  return id;
}

result<sandbox_id> sandbox_id::parse(std::string_view text) {
  if (text.size() != length || !is_sandbox_word(text))
    return bad_field("", "is no sandbox id",
                     "it has 22 lower case letters and digits");
  sandbox_id id;
  id.text_ = std::string{text};
  return id;
}

bool sandbox_filter::accepts(const sandbox_record& r) const {
  if (states.empty() ? is_over(r.state)
                     : std::ranges::find(states, r.state) == states.end())
    return false;
  if (!name.empty() && name != r.name)
    return false;
  if (!template_name.empty() && template_name != r.template_name)
    return false;
  if (!session.empty() && session != r.session)
    return false;
  if (place && *place != r.place)
    return false;
  return std::ranges::all_of(metadata, [&r](const auto& wanted) {
    auto found = r.metadata.find(wanted.first);
    return found != r.metadata.end() && found->second == wanted.second;
  });
}

std::vector<std::string> process_spec::program() const {
  if (!argv.empty())
    return argv;
  return {"/bin/sh", "-c", command};
}

std::string make_process_id() {
  return "p_" + random_word(16);
}

result<std::int32_t> parse_signal(std::string_view text) {
  struct named {
    std::string_view name;
    std::int32_t number;
  };
  static constexpr named known[] = {
    {"HUP", SIGHUP},     {"INT", SIGINT},   {"QUIT", SIGQUIT},
    {"KILL", SIGKILL},   {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
    {"TERM", SIGTERM},   {"CONT", SIGCONT}, {"STOP", SIGSTOP},
    {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},
    {"PIPE", SIGPIPE},   {"ALRM", SIGALRM}, {"ABRT", SIGABRT},
    {"WINCH", SIGWINCH},
  };
  auto bare = text;
  if (bare.starts_with("SIG"))
    bare.remove_prefix(3);
  for (const auto& each : known)
    if (each.name == bare || std::to_string(each.number) == text)
      return each.number;
  return bad_field("", "is no signal that can be sent",
                   "a name such as TERM, or its number");
}

} // namespace troupe
