#pragma once

#include "app/cli/run_command_line.hpp"
#include "app/daemon/exit_code.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// What happens when somebody types a command.
namespace troupe {

struct outcome {
  int code = 0;
  std::string out, err;
};

/// Runs the command line in this process, with both streams caught.
inline outcome run(std::vector<const char*> words) {
  words.insert(words.begin(), "troupe");
  std::ostringstream out, err;
  auto old_out = std::cout.rdbuf(out.rdbuf());
  auto old_err = std::cerr.rdbuf(err.rdbuf());
  auto code = run_command_line(static_cast<int>(words.size()), words.data());
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  return {code, out.str(), err.str()};
}

/// The same in a process of its own: for commands that run tools, whose sandbox
/// needs the real program.
inline outcome run_program(std::vector<std::string> words,
                           const std::filesystem::path& folder) {
  words.insert(words.begin(), TROUPE_BINARY_DIR "/troupe");
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  auto out = (folder / "typed.out").string();
  auto err = (folder / "typed.err").string();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  auto flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), flags, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), flags, 0600);
  pid_t pid = -1;
  auto failed
    = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  BOOST_REQUIRE(failed == 0);
  int status = 0;
  ::waitpid(pid, &status, 0);
  auto text = [](const std::string& path) {
    std::ifstream file{path};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          text(out), text(err)};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace troupe
