#pragma once

#include "runtime/local/warm/zygote_lifecycle.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace troupe::zygote {

/// Slots on their way: asks for what one stands on, then for the slot itself.
/// Counts them until somebody says that they came, or did not. On one strand.
class slot_maker : public std::enable_shared_from_this<slot_maker> {
public:
  struct events {
    /// An interpreter was asked for this one, which reports by itself.
    std::function<void(const slot_ptr&)> ordered;
    std::function<void(const std::string& key, const std::string& why)> failed;
  };

  slot_maker(boost::asio::any_io_executor strand,
             std::shared_ptr<slot_provisioner> provisioner,
             std::shared_ptr<zygote_lifecycle> zygotes)
      : strand_{std::move(strand)},
        provisioner_{std::move(provisioner)}, zygotes_{std::move(zygotes)} {}

  void listen(events on) { on_ = std::move(on); }
  void make(const launch& like);
  /// One with this key is whole, or will never be.
  void done(const std::string& key);

  std::size_t count() const { return count_; }
  std::size_t count(const std::string& key) const;

private:
  void on_prepared(const std::string& key, result<slot_sandbox> on);

  boost::asio::any_io_executor strand_;
  std::shared_ptr<slot_provisioner> provisioner_;
  std::shared_ptr<zygote_lifecycle> zygotes_;
  events on_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::size_t count_ = 0;
};

} // namespace troupe::zygote
