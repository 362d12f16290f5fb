#pragma once

#include "tests/runtime/local/egress/brokered_tool.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>

/// Runs with a network, both ways, and what they may reach.
namespace troupe::network::test {

using namespace troupe::test;

/// Servers of the host, and backends that take 127.0.0.8 and above for the
/// internet.
struct world {
  http_server web;
  http_server web6{AF_INET6};
  udp_echo echo;
  nameserver names;
  local_host warm{options(true)};
  local_host cold{options(false)};

  local_options options(bool with_zygotes) const {
    local_options o;
    o.zygote.enabled = with_zygotes;
    o.network = pretend_public(names);
    return o;
  }
  std::string port() const { return text(web.port()); }
};

inline prepared_run net_tool(language lang, std::string source,
                             network_policy policy) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = lang;
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = std::move(source);
  run.network = std::move(policy);
  run.limits.wall = std::chrono::seconds{30};
  return run;
}

inline world& shared_fixture() {
  static auto* made = [] {
    auto* w = new world;
    std::atexit([] { delete &shared_fixture(); });
    BOOST_REQUIRE(eventually([&] {
      const auto now = w->warm.backend().slots();
      return now.zygotes > 0 && now.trouble.empty();
    }));
    w->warm.run(net_tool(language::javascript, "function f() {}", {}));
    BOOST_REQUIRE(!lacks_warm_node().empty() || eventually([&] {
      return w->warm.backend().slots(zygote::family::node).zygotes > 0;
    }));
    return w;
  }();
  return *made;
}

struct way {
  const char* name;
  local_host& host;
};

/// Both ways of a run.
inline std::array<way, 2> ways() {
  return {way{"warm", shared_fixture().warm},
          way{"cold", shared_fixture().cold}};
}

inline bool decided(const run_result& r, std::string_view target,
                    bool allowed) {
  return std::ranges::any_of(r.network, [&](const auto& e) {
    return e.allowed == allowed && e.target.find(target) != std::string::npos;
  });
}

/// Runs it both ways, which must agree.
inline void python_says(const std::string& source, const network_policy& policy,
                        const std::string& value) {
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::python, source, policy));
      BOOST_TEST(r.value_json == value, r.value_json << r.stderr_text);
    }
}

inline void node_says(const std::string& source, const network_policy& policy,
                      const std::string& value) {
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::javascript, source, policy));
      BOOST_TEST(r.value_json == value, r.value_json << r.stderr_text);
    }
}

inline const network_policy nothing{network_mode::off, {}};

} // namespace troupe::network::test
