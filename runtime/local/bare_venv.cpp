#include "runtime/local/bare_venv.hpp"

#include <filesystem>
#include <fstream>

namespace troupe {

namespace fs = std::filesystem;

// What `python3 -m venv` does, as far as an interpreter looks at it.
result<std::string> make_bare_venv(const std::string& directory,
                                   const std::string& python) {
  const auto place = fs::path{directory};
  const auto program = place / "bin" / "python3";
  std::error_code why;
  fs::create_directories(program.parent_path(), why);
  if (!why)
    fs::create_symlink(python, program, why);
  std::ofstream about{place / "pyvenv.cfg"};
  about << "home = " << fs::path{python}.parent_path().string()
        << "\ninclude-system-site-packages = false\n";
  if (why || !about.flush())
    return error{ec::unavailable,
                 "make a venv below " + directory + ": " + why.message(),
                 {},
                 {}};
  // Its interpreter may run as another user, whatever the umask says.
  for (const auto& each : {place, program.parent_path()})
    fs::permissions(each, fs::perms{0755}, why);
  fs::permissions(place / "pyvenv.cfg", fs::perms{0644}, why);
  return program.string();
}

} // namespace troupe
