#include "tests/runtime/local/ready_host.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>

namespace troupe::test {

local_options without_warm_node() {
  local_options options;
  options.zygote.node = false;
  return options;
}

local_host& ready_host() {
  static auto* host = [] {
    auto* made = new local_host{without_warm_node()};
    std::atexit([] { delete &ready_host(); });
    return made;
  }();
  return *host;
}

bool has_waiting(local_host& host, std::size_t count) {
  return eventually([&] {
    const auto now = host.backend().ready_nodes();
    return now.waiting >= count && now.coming == 0;
  });
}

bool prepare_for(local_host& host, prepared_run like) {
  like.id = {};
  like.kind = run_kind::source;
  like.name = like.function = "f";
  like.source = "exports.f = () => 1";
  like.limits.wall = std::chrono::seconds{30};
  for (int i = 0; i < 4; ++i) {
    const auto before = host.backend().ready_nodes().runs;
    host.run(like);
    if (host.backend().ready_nodes().runs > before)
      return has_waiting(host);
    if (!eventually([&] { return host.backend().ready_nodes().coming == 0; }))
      return false;
  }
  return false;
}

run_result run_ready(local_host& host, const prepared_run& run) {
  BOOST_REQUIRE(has_waiting(host));
  const auto before = host.backend().ready_nodes().runs;
  auto result = host.run(run);
  BOOST_TEST(host.backend().ready_nodes().runs == before + 1);
  return result;
}

run_result run_there(local_host& host, const prepared_run& run) {
  if (&host != &ready_host())
    return host.run(run);
  BOOST_REQUIRE(prepare_for(host, run));
  return run_ready(host, run);
}

} // namespace troupe::test
