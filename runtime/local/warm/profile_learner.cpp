#include "runtime/local/warm/profile_learner.hpp"

#include "runtime/base/digest.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace troupe::zygote {

namespace {

/// What changes with every version of a file, short of reading it.
std::string version_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return {};
  return path + ' ' + std::to_string(about.st_size) + ' '
    + std::to_string(about.st_mtim.tv_sec) + '\n';
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// By everything that decides what the interpreter will ask for: itself, what
/// it imports, and how.
std::string profile_path(const interpreter_paths& where,
                         const std::vector<std::string>& preload) {
  auto about = version_of(where.interpreter) + content_of(where.module)
    + content_of(where.boot)
    + content_of(std::filesystem::path{where.boot}.replace_filename(
      "training.py"));
  for (const auto& name : preload)
    about += name + ',';
  std::error_code code;
  std::vector<std::filesystem::path> sources;
  for (auto i = std::filesystem::recursive_directory_iterator{where.runners
                                                                + "/python",
                                                              code};
       !code && i != std::filesystem::recursive_directory_iterator{};
       i.increment(code))
    if (i->path().extension() == ".py")
      sources.push_back(i->path());
  std::ranges::sort(sources);
  for (const auto& path : sources)
    about += content_of(path);
  const auto digest = sha256(about);
  return where.profiles + "/hot-blocks-" + hex({digest.data(), 8});
}

} // namespace

profile_learner::profile_learner(const zygote_options& options,
                                 const interpreter_paths& paths)
    : after_{options.learn_after} {
  if (paths.family == family::python && options.hot_blocks
      && !paths.profiles.empty())
    path_ = profile_path(paths, options.preload);
}

std::string profile_learner::known_profile() const {
  return !path_.empty() && ::access(path_.c_str(), R_OK) == 0 ? path_ : "";
}

void profile_learner::begin_if_due(
  std::uint64_t runs,
  const std::function<void(const std::string& path, unique_fd control)>&
    begin) {
  if (path_.empty() || tried_ || runs < after_)
    return;
  tried_ = true;
  int pair[2];
  if (!known_profile().empty()
      || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return;
  control_.reset(pair[0]);
  begin(path_, unique_fd{pair[1]});
}

bool profile_learner::on_end() {
  control_.reset();
  return !known_profile().empty();
}

} // namespace troupe::zygote
