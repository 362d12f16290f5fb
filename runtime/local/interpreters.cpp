#include "runtime/local/interpreters.hpp"

#include <unistd.h>

#include <filesystem>
#include <initializer_list>

namespace troupe {

namespace {

namespace fs = std::filesystem;

interpreter find(const std::string& wanted, const char* usual) {
  interpreter out;
  auto name = wanted.empty() ? std::string{usual} : wanted;
  out.path = name;
  if (name.find('/') == std::string::npos) {
    out.path = "/usr/bin/" + name;
    for (const char* directory : {"/usr/bin/", "/usr/local/bin/", "/bin/"})
      if (::access((directory + name).c_str(), X_OK) == 0) {
        out.path = directory + name;
        break;
      }
  }
  std::error_code code;
  auto real = fs::canonical(out.path, code);
  if (code)
    return out;
  out.path = real;
  // <prefix>/bin/<program>: its libraries lie beside bin.
  if (!out.path.starts_with("/usr/") && real.parent_path().has_parent_path())
    out.prefix = real.parent_path().parent_path();
  if (out.prefix == "/")
    out.prefix.clear();
  return out;
}

} // namespace

interpreters find_interpreters(const local_options& options) {
  return {find(options.python, "python3"), find(options.node, "node")};
}

} // namespace troupe
