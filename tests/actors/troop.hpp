#pragma once

#include "actors/cluster/peer_backend.hpp"
#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/temporary_directory.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

inline constexpr std::chrono::seconds soon{20};

/// Nodes of one authority: some that work and one that sends them runs.
struct troop {
  using mode = scripted_backend::mode;

  tests::temporary_directory folder;
  test_authority ours{folder.path(), "ours"};
  std::vector<std::unique_ptr<engine_fixture>> workers;
  std::shared_ptr<peer_backend> others;
  std::unique_ptr<engine_fixture> front;
  std::uint32_t runs_per_node = 256;
  breaker_options breaker;
  engine_options of_front;

  link_identity identity(const std::string& name) {
    auto own = ours.sign(name, "DNS:localhost,IP:127.0.0.1");
    return {own.certificate, own.key, ours.file()};
  }
  void add_worker(const std::string& name, mode how,
                  engine_options options = {}) {
    options.name = name;
    options.links = link_options{"127.0.0.1:0", identity(name), 8};
    if (options.drain_timeout == engine_options{}.drain_timeout)
      options.drain_timeout = std::chrono::milliseconds{20};
    workers.push_back(
      std::make_unique<engine_fixture>(how, std::move(options)));
  }
  /// Once all workers are there.
  void open_front(const std::string& name = "front") {
    peer_options o;
    o.runs_per_node = runs_per_node;
    o.breaker = breaker;
    o.report = of_front.report;
    o.warn = of_front.warn;
    o.name = name;
    o.identity = identity(name);
    o.first_pause = std::chrono::milliseconds{1};
    for (auto& w : workers)
      o.seeds.push_back("127.0.0.1:"
                        + std::to_string(w->host->published_port()));
    auto met = peer_backend::open(std::move(o));
    BOOST_REQUIRE_MESSAGE(met.has_value(), why(met));
    others = *met;
    auto options = std::move(of_front);
    options.name = name;
    options.backends.push_back(others);
    options.rules.standard_backend = backend_kind::peer;
    front = std::make_unique<engine_fixture>(mode::answer, std::move(options));
  }
  void open_and_meet_all() {
    open_front();
    BOOST_REQUIRE(others->wait_until_reached(workers.size(), soon));
  }
};

inline run_request for_peers(std::string args = "{}") {
  auto r = source_run(std::move(args));
  r.backend = backend_kind::peer;
  return r;
}

} // namespace troupe::test
