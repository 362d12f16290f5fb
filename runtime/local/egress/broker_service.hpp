#pragma once

#include "runtime/local/egress/broker_orders.hpp"
#include "runtime/local/egress/syscall_handler.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>
#include <string>

namespace troupe::network {

/// A broker inside of its process: takes orders from the engine and calls from
/// the tool, one run after another. Everything that it does for a tool is
/// counted against that tool, and it rests when that was too much.
class broker_service {
public:
  explicit broker_service(broker_descriptors with);

  /// Reads the first orders, which were there before this process. False: they
  /// make no sense.
  bool open();
  /// Serves until the engine lets go.
  void run();

private:
  void await_orders();
  void await_call();
  void obey_all();
  void obey(broker_order& order);
  void end_calls();
  bool take_call();
  bool get_ready();
  void begin_record();
  void record(const broker::report& one);

  boost::asio::io_context io_{1};
  boost::asio::posix::stream_descriptor control_, listener_;
  std::shared_ptr<shared<broker_page>> page_;
  std::shared_ptr<shared<account>> account_;
  broker_options options_;
  std::optional<quota> quota_;
  std::uint32_t run_ = 0;      // of the last order to serve
  std::uint32_t recorded_ = 0; // whose record it is
  network_policy policy_;
  std::shared_ptr<syscall_handler> calls_; // empty: nobody has called yet
};

} // namespace troupe::network
