#pragma once

#include <map>
#include <string>

namespace troupe::test {

/// Tools in Python by what they are about: what is told of their runs must not
/// depend on where the process came from.
const std::map<std::string, std::string>& python_table();

} // namespace troupe::test
