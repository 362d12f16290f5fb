#include "bench/sandboxes/machine.hpp"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <thread>

namespace troupe::bench {

namespace asio = boost::asio;

namespace {

call_scope soon() {
  return {clock::now() + std::chrono::seconds{60}, {}};
}

} // namespace

void demand(bool holds, const char* what) {
  if (!holds)
    throw std::runtime_error{std::string{"there should be "} + what};
}

sandbox_machine::sandbox_machine(std::size_t prepared,
                                 network::broker_options network)
    : prepared_{prepared} {
  char name[] = "/tmp/troupe-bench-XXXXXX";
  demand(::mkdtemp(name) != nullptr, "a state directory");
  options_.state_dir = name;
  options_.zygote.enabled = false;
  options_.ready_node = 0;
  options_.network = std::move(network);
  auto opened = local_backend::open(io_.executor(), options_);
  demand(opened.has_value(), "a local backend");
  backend_ = *opened;
  demand(backend_->wait_until_probed().has_value(), "a host that isolates");
  sandboxes_ = local_sandboxes::make(backend_->strand(), backend_->wardens(),
                                     {0, prepared, request().limits});
}

sandbox_machine::~sandbox_machine() {
  backend_->stop();
  std::error_code ignored;
  std::filesystem::remove_all(options_.state_dir, ignored);
}

sandbox_request sandbox_machine::request() {
  sandbox_request wanted;
  wanted.network.mode = network_mode::off;
  wanted.lifetime = std::chrono::minutes{30};
  wanted.limits.processes = 512;
  return wanted;
}

sandbox_handle sandbox_machine::make(sandbox_request wanted) {
  auto made = call(sandboxes_->create(std::move(wanted), soon()));
  demand(made.sandbox.has_value(), "a sandbox");
  return *made.sandbox;
}

std::string sandbox_machine::output_of(const sandbox_handle& in,
                                       std::vector<std::string> argv) {
  process_request what;
  what.argv = std::move(argv);
  std::string said;
  output_sink sink
    = [&said](output_stream, std::string_view text) { said += text; };
  auto done = call(sandboxes_->execute(in, std::move(what), sink, soon()));
  demand(done.end && done.end->exit_code == 0, "a process in a sandbox");
  return said;
}

void sandbox_machine::run_at_once(const sandbox_handle& in, std::size_t count) {
  std::vector<std::future<bool>> all;
  auto one = [](std::shared_ptr<local_sandboxes> at, sandbox_handle in,
                std::promise<bool> to) -> asio::awaitable<void> {
    process_request what;
    what.argv = {"/bin/true"};
    output_sink sink = [](output_stream, std::string_view) {};
    auto done = co_await at->execute(in, std::move(what), sink, soon());
    to.set_value(done.end.has_value());
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::promise<bool> promise;
    all.push_back(promise.get_future());
    asio::co_spawn(backend_->strand(), one(sandboxes_, in, std::move(promise)),
                   asio::detached);
  }
  for (auto& each : all)
    demand(each.get(), "processes side by side");
}

void sandbox_machine::read_file(const sandbox_handle& in) {
  auto text = call(sandboxes_->files()->read(in, "/etc/passwd", soon()));
  demand(text.has_value(), "a file of a sandbox");
}

void sandbox_machine::destroy(const sandbox_handle& sandbox) {
  demand(call(sandboxes_->destroy(sandbox, soon())).has_value(),
         "the end of a sandbox");
}

void sandbox_machine::wait_until_prepared() {
  auto count
    = [](std::shared_ptr<local_sandboxes> of) -> asio::awaitable<std::size_t> {
    co_return of->prepared();
  };
  while (call(count(sandboxes_)) < prepared_)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

void spawn_and_wait(const std::vector<std::string>& argv, std::size_t at_once) {
  std::vector<char*> words;
  for (const auto& word : argv)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<pid_t> all(at_once);
  for (auto& pid : all)
    demand(
      ::posix_spawnp(&pid, words[0], nullptr, nullptr, words.data(), environ)
        == 0,
      "a plain process");
  for (const auto pid : all) {
    int status = 0;
    demand(::waitpid(pid, &status, 0) == pid && status == 0,
           "a plain process that ends well");
  }
}

byte_echo::byte_echo() {
  int ends[2];
  demand(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
         "a pair of sockets");
  ours_ = ends[0];
  echo_ = ::fork();
  if (echo_ == 0) {
    ::close(ends[0]);
    for (char c = 0;
         ::read(ends[1], &c, 1) == 1 && ::write(ends[1], &c, 1) == 1;)
      ;
    ::_exit(0);
  }
  ::close(ends[1]);
  demand(echo_ > 0, "another process");
}

byte_echo::~byte_echo() {
  ::close(ours_);
  ::waitpid(echo_, nullptr, 0);
}

void byte_echo::round_trip() {
  char c = 0;
  demand(::write(ours_, &c, 1) == 1 && ::read(ours_, &c, 1) == 1, "an echo");
}

} // namespace troupe::bench
