// A platform that sends many execution messages to an engine elsewhere and
// counts the answers.
//
//   remote_client HOST PORT CERTIFICATE KEY AUTHORITY [COUNT] [IN-FLIGHT]
//     over mutual TLS to the cluster.listen of `troupe serve`; PEM files
//   remote_client --self-test [COUNT]   publishes an engine of its own first
#include <troupe/engine.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>

namespace api = troupe::api;

namespace {

constexpr std::size_t default_count = 100'000;
constexpr std::size_t default_in_flight = 256; // the engine refuses a flood

struct outcome {
  std::size_t fine = 0;
  std::size_t failed = 0;
};

/// Keeps so many messages under way until all have been answered.
outcome send_all(api::engine& engine, std::size_t count,
                 std::size_t in_flight) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0;
  outcome total;
  for (std::size_t i = 0; i < count; ++i) {
    {
      std::unique_lock lock{mutex};
      changed.wait(lock, [&] { return running < in_flight; });
      ++running;
    }
    api::message m;
    m.source = "def f(i: int) -> int:\n    return i\n";
    m.function = "f";
    m.arguments = "{\"i\": " + std::to_string(i) + "}";
    engine.submit(std::move(m), [&](api::reply reply) {
      auto* answer = std::get_if<api::answer>(&reply);
      // Under the lock to the end: `changed` lives in the other's frame.
      std::lock_guard guard{mutex};
      ++(answer && answer->succeeded ? total.fine : total.failed);
      --running;
      changed.notify_all();
    });
  }
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return running == 0; });
  return total;
}

int report(api::engine& engine, std::size_t count, std::size_t in_flight) {
  const auto began = std::chrono::steady_clock::now();
  const auto total = send_all(engine, count, in_flight);
  const std::chrono::duration<double> took
    = std::chrono::steady_clock::now() - began;
  std::cout << total.fine << " answers, " << total.failed << " failures, "
            << static_cast<long>(static_cast<double>(count) / took.count())
            << " messages per second\n";
  return total.failed == 0 && total.fine == count ? 0 : 1;
}

std::unique_ptr<api::engine> expect(api::opened opened) {
  if (auto* broken = std::get_if<api::failure>(&opened)) {
    std::cerr << broken->text << "\n";
    return nullptr;
  }
  return std::move(std::get<0>(opened));
}

int self_test(std::size_t count) {
  // A port that is likely free; the next one if it is not.
  for (std::uint16_t port = 28'283; port < 28'303; ++port) {
    api::embedded_options options;
    options.publish_port = port;
    options.backend
      = [](const api::message& m, std::function<void(api::answer)> done) {
          api::answer a;
          a.succeeded = true;
          a.reason = "exited";
          a.value = m.arguments;
          done(std::move(a));
        };
    auto opened = api::open_embedded(std::move(options));
    if (std::holds_alternative<api::failure>(opened))
      continue;
    auto engine = std::move(std::get<0>(opened));
    auto client = expect(api::connect("127.0.0.1", port));
    if (!client)
      return 1;
    auto code = report(*client, count, default_in_flight);
    client->stop();
    return code;
  }
  std::cerr << "no free port\n";
  return 1;
}

std::size_t number(int argc, char** argv, int index, std::size_t otherwise) {
  return argc > index ? std::strtoul(argv[index], nullptr, 10) : otherwise;
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view{argv[1]} == "--self-test")
    return self_test(number(argc, argv, 2, default_count));
  if (argc < 6) {
    std::cerr << "usage: remote_client HOST PORT CERTIFICATE KEY AUTHORITY "
                 "[COUNT] [IN-FLIGHT]\n";
    return 2;
  }
  auto port = static_cast<std::uint16_t>(std::strtoul(argv[2], nullptr, 10));
  api::identity us{argv[3], argv[4], argv[5]};
  auto client = expect(api::connect(argv[1], port, us));
  if (!client)
    return 1;
  return report(*client, number(argc, argv, 6, default_count),
                number(argc, argv, 7, default_in_flight));
}
