#include "app/cli/command_line.hpp"

#include <iostream>

namespace troupe {

int complain(std::string_view reason, int code) {
  std::cerr << "troupe: " << reason << "\n";
  return code;
}

int complain(const error& why) {
  return complain(why.text, why.code == ec::internal ? exit_ours : exit_usage);
}

} // namespace troupe
