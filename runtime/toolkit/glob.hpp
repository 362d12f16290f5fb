#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::toolkit {

/// A pattern of paths: `*` and `?` within a name, `**` over folders, `[a-z]`,
/// `{a,b}`. Without a `/` it is about names at any depth; one at its front
/// anchors it. Names that begin with a dot match only a dot.
class glob {
public:
  static result<glob> parse(std::string_view pattern);

  bool matches(std::string_view path) const;

private:
  std::vector<std::string> alternatives_; // without braces
};

} // namespace troupe::toolkit
