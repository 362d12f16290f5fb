#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/local/egress/broker_memory.hpp"
#include "runtime/local/egress/options.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/run.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::network {

/// What the process of a broker is started with.
struct broker_descriptors {
  unique_fd control; // orders come here; its end of file is the end
  unique_fd page;    // a broker_page
  unique_fd account; // of its organization
  unique_fd listener;
};

/// Where brokers live: processes of their own, which hold no secret and
/// nothing of another run, so that whatever a tool does to its broker costs
/// that tool alone. Used on the executor of its brokers.
class broker_host {
public:
  virtual ~broker_host() = default;
  /// The process's number; 0 when there is none to be had now.
  virtual std::uint64_t start_broker(broker_descriptors with) = 0;
  /// It need not be asked whether it would like to end.
  virtual void kill_broker(std::uint64_t number) = 0;
  virtual result<std::shared_ptr<shared<account>>>
  account_of(const organization_id& organization) = 0;
};

/// The engine's end of what decides the internet calls of one run, or of one
/// slot for one run after another, by seccomp user notification.
///
/// The filter of the tool (isolation/seccomp.cpp) hands socket, connect,
/// bind, listen, sendto, sendmsg and sendmmsg to a broker: a process that is
/// started when the first of them comes, since most tools make none. It creates
/// sockets in the host's network namespace and gives them to the tool, copies
/// an address out of the tool's memory once, judges the copy, and connects the
/// tool's socket to the copy itself. What it decides it writes into memory that
/// it shares with this object, before the tool has its answer. Nothing in the
/// engine touches a file, or memory, of the tool.
///
/// Lives on one executor; give it a strand or a single thread, and call it
/// there.
class broker {
public:
  struct request {
    unique_fd listener; // what seccomp(2) gave for the tool's filter
    network_policy policy;
    broker_options options;
    organization_id organization;
    std::weak_ptr<broker_host> host;
  };
  static result<std::shared_ptr<broker>>
  open(boost::asio::any_io_executor executor, request about);

  broker(const broker&) = delete;
  broker& operator=(const broker&) = delete;
  virtual ~broker() = default;

  /// The next run of a slot, which begins after this: nothing remembered,
  /// perhaps another policy. Free when the last one never asked for anything.
  virtual void reset(network_policy policy) = 0;

  /// The listener of another filter of the same run: the same policy and
  /// budget. A sandbox that lives has one for each command. After a broker was
  /// lost, those that were not called yet get a new one.
  virtual void add(unique_fd listener) = 0;

  /// Another policy for the same run, which goes on. What it has open, and may
  /// not have any more, is shut down.
  virtual void change(network_policy policy) = 0;

  struct report {
    std::vector<network_event> events; // the first of each kind
    std::size_t dropped = 0;           // beyond `broker_options::events`
    /// The first thing that the run's policy refused. What no policy allows,
    /// such as listening, is not meant.
    std::optional<network_event> denied;
    bool lost = false; // the broker ended before its run did
  };
  /// The run is over: what was decided for it. What still waits for it, ends;
  /// a broker that has not managed that in a second is killed.
  virtual report end_run() = 0;

  /// It can serve another run. Once its process is gone, every call of the
  /// tool is answered ENOSYS by the kernel.
  virtual bool is_well() const = 0;

  /// Answers nothing more. Also happens when the last process of the tool is
  /// gone.
  virtual void close() = 0;

protected:
  broker() = default;
};

} // namespace troupe::network
