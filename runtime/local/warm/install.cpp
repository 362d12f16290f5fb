#include "runtime/base/embedded_file.hpp"
#include "runtime/local/warm/warm_launcher.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

namespace troupe::zygote {

// Generated: see CMakeLists.txt in this folder.
std::span<const embedded_file> embedded_zygote();

namespace {

error cannot(const std::string& what, const std::string& path) {
  error e;
  e.code = ec::unavailable;
  e.text = what + " " + path + ": " + std::strerror(errno);
  return e;
}

/// Whole or not at all: another engine may be reading the same name.
result<void> write_file(const std::string& path, std::string_view bytes) {
  const auto partial = path + "." + std::to_string(::getpid());
  unique_fd file{::open(partial.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                        0644)};
  if (!file)
    return cannot("create", partial);
  while (!bytes.empty()) {
    const auto put = ::write(file.get(), bytes.data(), bytes.size());
    if (put <= 0)
      return cannot("write", partial);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  // The interpreter reads as another user, whatever the umask says.
  if (::fchmod(file.get(), 0644) != 0)
    return cannot("change", partial);
  if (::rename(partial.c_str(), path.c_str()) != 0)
    return cannot("rename", partial);
  return {};
}

} // namespace

result<void> install(const std::string& directory,
                     warm_launcher::paths& where) {
  const bool is_node = where.family == family::node;
  where.module = directory
    + (is_node ? "/troupe_zygote_node.node" : "/troupe_zygote.abi3.so");
  where.boot = directory + (is_node ? "/boot.cjs" : "/boot.py");
  for (const auto& file : embedded_zygote())
    if (auto done
        = write_file(directory + "/" + std::string{file.path}, file.text);
        !done)
      return done;
  return {};
}

} // namespace troupe::zygote
