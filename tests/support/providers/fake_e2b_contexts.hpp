#pragma once

#include "tests/support/providers/fake_provider.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::test {

/// The code interpreter's contexts. What was done in one is there for the next
/// code in it, until it is begun again.
class code_contexts {
public:
  /// /contexts and below.
  void handle(const stand_request& r, stand_reply& reply);
  /// A program that does what the context knows, quietly, and then `code`, with
  /// `first` in front of the first one; nothing where there is no such context.
  std::optional<std::string> program(const std::string& id,
                                     const std::string& first,
                                     const std::string& code);

private:
  std::mutex mutex_;
  std::map<std::string, std::string> done_; // by id
  int next_ = 1;
};

} // namespace troupe::test
