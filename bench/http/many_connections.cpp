#include "bench/http/many_connections.hpp"

#include "bench/http/client.hpp"
#include "bench/http/load.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe::bench {

http_crowd::http_crowd(std::uint16_t port, std::size_t connections) {
  int input[2], output[2];
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  std::string words[] = {"troupe_bench", crowd_command, std::to_string(port),
                         std::to_string(connections)};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(),
                  words[3].data(), nullptr};
  const auto bad
    = ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(output[1]);
  hold_ = input[1];
  std::string line;
  for (char c; bad == 0 && ::read(output[0], &c, 1) == 1 && c != '\n';)
    line += c;
  ::close(output[0]);
  if (line.empty())
    throw std::runtime_error{"the benchmark's clients do not start"};
  answered_ = std::stoul(line);
}

http_crowd::~http_crowd() {
  ::close(hold_);
  ::waitpid(pid_, nullptr, 0);
}

int be_crowd(std::uint16_t port, std::size_t connections) {
  std::vector<http_client> all;
  all.reserve(connections);
  const auto request = http_get("/livez");
  std::size_t answered = 0;
  for (std::size_t i = 0; i < connections; ++i) {
    all.emplace_back(port);
    if (all.back().send(request) && all.back().answered())
      ++answered;
  }
  std::printf("%zu\n", answered);
  std::fflush(stdout);
  for (char c; ::read(0, &c, 1) == 1;) {
  }
  return 0;
}

} // namespace troupe::bench
