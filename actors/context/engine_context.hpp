#pragma once

#include "actors/caf/request_router.hpp"
#include "actors/context/engine_options.hpp"
#include "actors/context/run_intake.hpp"
#include "runtime/base/snapshot.hpp"

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

struct sandbox_services;

/// One engine as a whole, for what starts and stops it and for its front. An
/// actor is handed the part that it works with: the services of runs, the
/// intake, or a struct of its own header.
struct engine_context : run_intake {
  explicit engine_context(engine_options options_);

  const engine_options options;
  const std::string boot; // differs after every start
  const std::shared_ptr<configuration_store> configuration;
  std::atomic<std::uint32_t> linked_nodes{0}; // they hang up when we drain
  /// For work that would keep a dispatcher from others: big JSON.
  boost::asio::thread_pool background{1};
  std::unique_ptr<request_router> router;
  std::shared_ptr<sandbox_services> sandboxes; // set before there are actors

  catalog_ptr catalog() const { return configuration->current().load(); }

  void report(std::string_view line) const {
    if (options.report)
      options.report(line);
  }
  /// The same of something that an operator should look after.
  void warn(std::string_view line) const {
    if (options.warn)
      options.warn(line);
    else
      report(line);
  }
};

using context_ptr = std::shared_ptr<engine_context>;

} // namespace troupe
