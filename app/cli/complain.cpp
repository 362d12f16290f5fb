#include "app/cli/command_line.hpp"

#include <iostream>

namespace troupe {

int print_error(std::string_view reason, int code) {
  std::cerr << "troupe: " << reason << "\n";
  return code;
}

int print_error(const error& why) {
  return print_error(why.text, exit_code_of(why.code));
}

} // namespace troupe
