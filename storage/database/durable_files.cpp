#include "storage/database/durable_files.hpp"

#include "runtime/base/digest.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <system_error>

namespace troupe::files {

namespace {

constexpr std::size_t chunk_bytes = 64u << 10;

using consumer = std::function<result<void>(std::string_view)>;

result<void> each_chunk(const std::filesystem::path& file, const consumer& take,
                        int more_flags = 0) {
  descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC | more_flags)};
  if (!in)
    return last_error("open", file);
  std::string buffer(chunk_bytes, '\0');
  for (;;) {
    auto n = ::read(in.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return last_error("read", file);
    if (n == 0)
      return {};
    auto taken = take({buffer.data(), static_cast<std::size_t>(n)});
    if (!taken)
      return taken;
  }
}

result<void> write_all(int fd, std::string_view bytes,
                       const std::filesystem::path& file) {
  while (!bytes.empty()) {
    auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return last_error("write", file);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

using filler = std::function<result<void>(int)>;

result<void> fill_and_sync(descriptor out, const std::filesystem::path& file,
                           const filler& fill) {
  if (!out)
    return last_error("create", file);
  auto filled = fill(out.get());
  if (!filled)
    return filled;
  if (::fsync(out.get()) != 0)
    return last_error("sync", file);
  return {};
}

// Never into something that lies there already: its mode, or the place that
// it leads to, would be somebody else's choice.
result<void> write_new(const std::filesystem::path& file, const filler& fill) {
  descriptor out{::open(file.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        S_IRUSR | S_IWUSR)};
  return fill_and_sync(std::move(out), file, fill);
}

} // namespace

descriptor::~descriptor() {
  if (fd_ >= 0)
    ::close(fd_);
}

error last_error(std::string_view doing, const std::filesystem::path& file) {
  auto number = errno;
  auto code = ec::unavailable;
  if (number == ENOENT)
    code = ec::not_found;
  else if (number == EACCES || number == EPERM)
    code = ec::denied;
  else if (number == ENOSPC || number == EDQUOT || number == EFBIG)
    code = ec::no_space;
  else if (number == EEXIST)
    code = ec::conflict;
  return {code,
          std::string{doing} + " " + file.string() + ": "
            + std::generic_category().message(number),
          {},
          {}};
}

result<std::string> read(const std::filesystem::path& file, std::size_t limit) {
  std::string content;
  auto done = each_chunk(file, [&](std::string_view chunk) -> result<void> {
    if (content.size() + chunk.size() > limit)
      return error{ec::invalid_request,
                   file.string() + " is longer than " + std::to_string(limit)
                     + " bytes",
                   {},
                   {}};
    content += chunk;
    return {};
  });
  if (!done)
    return done.error();
  return content;
}

result<void> replace(const std::filesystem::path& file,
                     std::string_view content) {
  auto beside = file;
  beside += ".new";
  if (::unlink(beside.c_str()) != 0 && errno != ENOENT)
    return last_error("remove", beside);
  auto written
    = write_new(beside, [&](int fd) { return write_all(fd, content, beside); });
  if (!written)
    return written;
  if (::rename(beside.c_str(), file.c_str()) != 0)
    return last_error("rename", beside);
  return sync_directory(file.parent_path());
}

result<void> create(const std::filesystem::path& file,
                    std::string_view content) {
  auto name = file.string() + ".XXXXXX"; // two may try it at once
  descriptor out{::mkostemp(name.data(), O_CLOEXEC)};
  const std::filesystem::path beside{name};
  auto done = fill_and_sync(std::move(out), beside, [&](int fd) {
    return write_all(fd, content, beside);
  });
  if (done && ::link(beside.c_str(), file.c_str()) != 0)
    done = last_error("create", file);
  ::unlink(beside.c_str());
  if (!done)
    return done;
  return sync_directory(file.parent_path());
}

result<void> remove(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) != 0)
    return last_error("remove", file);
  return sync_directory(file.parent_path());
}

result<void> sync_directory(const std::filesystem::path& directory) {
  const auto& name = directory.empty() ? std::filesystem::path{"."} : directory;
  descriptor d{::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!d)
    return last_error("open", name);
  if (::fsync(d.get()) != 0)
    return last_error("sync", name);
  return {};
}

result<void> sync_file(const std::filesystem::path& file) {
  descriptor d{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!d)
    return last_error("open", file);
  if (::fsync(d.get()) != 0)
    return last_error("sync", file);
  return {};
}

void close_to_others(const std::filesystem::path& directory) {
  constexpr auto of_others
    = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  std::error_code failed;
  std::filesystem::directory_iterator i{directory, failed};
  for (; !failed && i != std::filesystem::directory_iterator{};
       i.increment(failed)) {
    std::error_code ignored;
    const auto is = i->symlink_status(ignored);
    if (std::filesystem::is_regular_file(is)
        && (is.permissions() & of_others) != std::filesystem::perms::none)
      std::filesystem::permissions(
        i->path(), of_others, std::filesystem::perm_options::remove, ignored);
  }
}

result<std::string> hash(const std::filesystem::path& file) {
  sha256_hasher sha;
  auto done = each_chunk(file, [&](std::string_view chunk) -> result<void> {
    sha.add(chunk);
    return {};
  });
  if (!done)
    return done.error();
  return hex(sha.end());
}

result<void> copy(const std::filesystem::path& from,
                  const std::filesystem::path& to) {
  return write_new(to, [&](int fd) {
    return each_chunk(
      from, [&](std::string_view chunk) { return write_all(fd, chunk, to); },
      O_NOFOLLOW);
  });
}

} // namespace troupe::files
