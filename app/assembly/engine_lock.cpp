#include "app/assembly/engine_lock.hpp"

#include "runtime/base/private_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace troupe {

namespace {

constexpr const char* file_name = "engine.lock";
constexpr std::size_t max_bytes = 4096;

/// "pid 123" in the first line, a URL in each of the others.
std::string describe(int file) {
  std::string text(max_bytes, '\0');
  const auto n = ::pread(file, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  while (text.ends_with('\n'))
    text.pop_back();
  if (!text.starts_with("pid "))
    return "an engine";
  const auto line = text.find('\n');
  auto out = "an engine (" + text.substr(0, line) + ")";
  for (auto at = line; at != text.npos;) {
    const auto next = text.find('\n', at + 1);
    out += (at == line ? " at " : ", ") + text.substr(at + 1, next - at - 1);
    at = next;
  }
  return out;
}

} // namespace

result<engine_lock>
engine_lock::take(const std::filesystem::path& data_directory) {
  if (auto made = make_data_directory(data_directory); !made)
    return made.error();
  const auto path = data_directory / file_name;
  engine_lock lock;
  lock.file_.reset(::open(path.c_str(),
                          O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                          S_IRUSR | S_IWUSR));
  const auto failed = [&](std::string_view doing) {
    return fail(ec::unavailable,
                std::string{doing} + " " + path.string() + ": "
                  + std::generic_category().message(errno));
  };
  if (!lock.file_)
    return failed("open");
  if (::flock(lock.file_.get(), LOCK_EX | LOCK_NB) == 0) {
    lock.serves({});
    return lock;
  }
  if (errno != EWOULDBLOCK)
    return failed("lock");
  return fail(ec::conflict,
              "the data in " + data_directory.string() + " is in use by "
                + describe(lock.file_.get())
                + "; name that engine with --server, stop it, "
                  "or use another --data-dir");
}

/// Best effort: it only helps others to find us, and the disk may be full.
void engine_lock::serves(const std::vector<std::string>& urls) const {
  auto text = "pid " + std::to_string(::getpid()) + "\n";
  for (const auto& url : urls)
    text += url + "\n";
  if (::ftruncate(file_.get(), 0) == 0)
    (void)!::pwrite(file_.get(), text.data(), text.size(), 0);
}

std::optional<std::string>
engine_using(const std::filesystem::path& data_directory) {
  const unique_fd file{::open((data_directory / file_name).c_str(),
                              O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) == 0
      || errno != EWOULDBLOCK)
    return std::nullopt;
  return describe(file.get());
}

} // namespace troupe
