#pragma once

#include "net/server/router.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe {
class engine;
class sandbox_engine;
} // namespace troupe

namespace troupe::net::e2b_facade {

class facade;

/// What clients of E2B see, on any number of listeners. `core` and `sandboxes`
/// (null: there are none) outlive it, and it the servers.
std::shared_ptr<facade> make_facade(engine& core, sandbox_engine* sandboxes);

/// Where clients find it, the best address first.
void tell_urls(facade& shared, std::vector<std::string> urls);

/// Below /compat/e2b, beside other routes. Signed URLs, which name no path of
/// ours, are served at /files.
void add_e2b(router& routes, const std::shared_ptr<facade>& shared);

/// On a server of its own, where every path is E2B's.
void add_e2b_at_root(router& routes, const std::shared_ptr<facade>& shared);

} // namespace troupe::net::e2b_facade
