#include "runtime/local/warden/sandbox_template.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace troupe::warden {

namespace {

namespace fs = std::filesystem;

/// What is another's in a sandbox that has a user and a home.
std::string_view text_of(const isolation::tree_entry& file) {
  if (file.inside == "/etc/passwd")
    return "user:x:1000:1000:user:/home/user:/bin/bash\n"
           "nobody:x:65534:65534:nobody:/:/bin/false\n";
  if (file.inside == "/etc/group")
    return "user:x:1000:\nnogroup:x:65534:\n";
  return file.content;
}

/// A file is copied, for a directory there is a place.
void show(const fs::path& root, const isolation::mount_source& shown,
          std::error_code& code) {
  const fs::path place = root / shown.inside.substr(1);
  const bool copied = lies_in_template(shown);
  fs::create_directories(copied ? place.parent_path() : place, code);
  if (!code && copied)
    fs::copy_file(shown.host, place, code);
  if (shown.optional && code == std::errc::no_such_file_or_directory)
    code.clear();
}

bool write_file(const fs::path& place, std::string_view text) {
  std::error_code code;
  fs::create_directories(place.parent_path(), code);
  std::ofstream file{place, std::ios::binary};
  file << text;
  file.close();
  return file.good();
}

std::error_code fill(const fs::path& root,
                     const isolation::tree_plan& standard) {
  std::error_code code;
  fs::create_directories(root, code);
  for (const auto& link : standard.links) {
    const auto place = root / link.inside.substr(1);
    if (!code)
      fs::create_directories(place.parent_path(), code);
    if (!code)
      fs::create_symlink(link.content, place, code);
  }
  for (const auto& shown : standard.shown)
    if (!code)
      show(root, shown, code);
  for (const auto& file : standard.files)
    if (!code && !write_file(root / file.inside.substr(1), text_of(file)))
      code = {errno, std::generic_category()};
  return code;
}

} // namespace

bool lies_in_template(const isolation::mount_source& shown) {
  std::error_code none;
  return !fs::is_directory(shown.host, none);
}

bool write_template(const std::string& directory,
                    const isolation::tree_plan& standard) {
  const auto code = fill(directory, standard);
  if (code) {
    std::error_code ignored;
    fs::remove_all(directory, ignored); // half of one is none
  }
  errno = code.value();
  return !code;
}

} // namespace troupe::warden
