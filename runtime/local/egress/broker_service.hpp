#pragma once

#include "runtime/local/egress/broker_orders.hpp"
#include "runtime/local/egress/syscall_handler.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <list>
#include <memory>
#include <string>
#include <vector>

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
  using listener = std::list<boost::asio::posix::stream_descriptor>::iterator;

  void await_orders();
  void listen(unique_fd to);
  void await_call(listener from);
  void obey_all();
  void obey(broker_order& order, std::vector<unique_fd>& given);
  void end_calls(listener of);
  bool take_call(int listener);
  bool get_ready();
  void begin_record();
  void record(const broker::report& one);

  boost::asio::io_context io_{1};
  boost::asio::posix::stream_descriptor control_;
  std::list<boost::asio::posix::stream_descriptor> listeners_;
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
