#include "storage/database/manifest.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/json/json.hpp"
#include "storage/database/durable_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>

namespace troupe {

namespace {

constexpr std::string_view end_word = "end ";
constexpr std::string_view no_hash = "-";
constexpr std::size_t longest_shown_name = 128;

// Locks and logs for people change without meaning anything; lists list
// neither themselves nor each other.
bool is_listed(std::string_view name) {
  return name != "LOCK" && !name.starts_with("LOG")
    && !name.starts_with("troupe.");
}

// A list may come from a stranger: a name leads to nowhere but beside it.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".."
    && name.find('/') == std::string_view::npos
    && name.find('\0') == std::string_view::npos;
}

bool is_hashed(std::string_view name, hashing which) {
  return which == hashing::all_files || !name.ends_with(".sst");
}

result<manifest::file> look_at(const std::filesystem::path& path, bool hashed) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0)
    return error{ec::not_found,
                 path.string() + ": " + std::generic_category().message(errno),
                 {},
                 {}};
  // A link would lead to a file that nobody has listed.
  if (!S_ISREG(about.st_mode))
    return error{ec::internal,
                 path.string()
                   + " is not a regular file, as every file of a store is",
                 {},
                 {}};
  manifest::file found;
  found.bytes = static_cast<std::uint64_t>(about.st_size);
  if (hashed) {
    auto hash = files::hash(path);
    if (!hash)
      return hash.error();
    found.hash = *hash;
  }
  return found;
}

error differs(const std::filesystem::path& file, std::string_view how) {
  return {ec::internal, file.string() + " " + std::string{how}, {}, {}};
}

error not_a_list() {
  return {ec::internal, "the list of the store's files is damaged", {}, {}};
}

} // namespace

result<manifest> take_manifest(const std::filesystem::path& directory,
                               hashing which) {
  manifest list;
  std::error_code failed;
  std::filesystem::directory_iterator i{directory, failed};
  for (; !failed && i != std::filesystem::directory_iterator{};
       i.increment(failed)) {
    auto name = i->path().filename().string();
    if (!is_listed(name)
        || !std::filesystem::is_regular_file(i->symlink_status(failed)))
      continue;
    auto found = look_at(i->path(), is_hashed(name, which));
    if (!found)
      return found.error();
    list.files.emplace(std::move(name), std::move(*found));
  }
  if (failed)
    return error{
      ec::unavailable, directory.string() + ": " + failed.message(), {}, {}};
  return list;
}

result<void> compare_manifest(const std::filesystem::path& directory,
                              const manifest& expected) {
  for (const auto& [name, was] : expected.files) {
    auto path = directory / name;
    auto is = look_at(path, !was.hash.empty());
    if (!is && is.error().code == ec::not_found)
      return differs(path, "is missing");
    if (!is)
      return is.error();
    if (is->bytes != was.bytes)
      return differs(path, "has another size");
    if (*is != was)
      return differs(path, "does not match its checksum");
  }
  return {};
}

std::string to_text(const manifest& list) {
  std::string text;
  for (const auto& [name, file] : list.files)
    text += (file.hash.empty() ? std::string{no_hash} : file.hash) + " "
      + std::to_string(file.bytes) + " " + name + "\n";
  return text + std::string{end_word} + hex(sha256(text)) + "\n";
}

result<manifest> parse_manifest(std::string_view text) {
  manifest list;
  std::size_t start = 0;
  for (;;) {
    auto end = text.find('\n', start);
    if (end == std::string_view::npos)
      return not_a_list();
    auto line = text.substr(start, end - start);
    if (line.starts_with(end_word)) {
      auto whole = hex(sha256(text.substr(0, start)));
      if (line.substr(end_word.size()) != whole || end + 1 != text.size())
        return not_a_list();
      return list;
    }
    auto a = line.find(' ');
    auto b = line.find(' ', a + 1);
    if (a == std::string_view::npos || b == std::string_view::npos)
      return not_a_list();
    manifest::file file;
    if (auto hash = line.substr(0, a); hash != no_hash)
      file.hash = hash;
    const auto* last = line.data() + b;
    if (auto n = std::from_chars(line.data() + a + 1, last, file.bytes);
        n.ec != std::errc{} || n.ptr != last)
      return not_a_list();
    const auto name = line.substr(b + 1);
    if (!is_plain_name(name) || !is_listed(name))
      return error{ec::internal,
                   "the list of the store's files names '"
                     + json::repair_utf8(name.substr(0, longest_shown_name))
                     + "', which is not the name of one of them",
                   {},
                   {}};
    if (!list.files.emplace(name, std::move(file)).second)
      return not_a_list();
    start = end + 1;
  }
}

} // namespace troupe
