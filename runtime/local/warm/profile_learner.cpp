// Which blocks of an interpreter's memory its runs write to, found out once per
// host (runtime/local/warm/python/hot_blocks/hot_blocks.cpp says what for). A busy
// engine pays for it, one that runs a tool now and then never does.
#include "runtime/base/digest.hpp"
#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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

} // namespace

/// By everything that decides what the interpreter will ask for: itself, what
/// it imports, and how.
std::string profile_path(const slot_carrier::paths& where,
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

/// The blocks that lie together are known, or nobody wants to know.
bool slot_carrier::impl::has_profile() const {
  return !where_.profile.empty() && ::access(where_.profile.c_str(), R_OK) == 0;
}

void slot_carrier::impl::learn_if_due() {
  if (where_.profile.empty() || learning_ || stopped_ || !current_
      || totals_.runs < options_.learn_after)
    return;
  learning_.emplace();
  int pair[2];
  if (has_profile()
      || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return; // never asked again
  learning_->reset(pair[0]);
  provisioner_->hatch(command(purpose::learn), unique_fd{pair[1]},
                      [weak = weak_from_this()](error) {
                        if (auto self = weak.lock())
                          self->on_learned();
                      });
}

/// An interpreter that knows it takes over.
void slot_carrier::impl::on_learned() {
  learning_->reset();
  if (has_profile())
    hatch();
}

} // namespace troupe::zygote
