#include "app/host.hpp"

#include "app/exit_code.hpp"
#include "app/watchdog.hpp"
#include "runtime/log.hpp"
#include "storage/database.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace troupe {

namespace {

// What a stop may take on top of the drain before it counts as hanging.
constexpr std::chrono::seconds stop_slack{10};

result<void> make_private_folder(const std::filesystem::path& path) {
  std::error_code why;
  std::filesystem::create_directories(path.parent_path(), why);
  if (::mkdir(path.c_str(), 0700) == 0 || std::filesystem::is_directory(path))
    return {};
  error e;
  e.code = ec::invalid_request;
  e.text = "engine.data-dir " + path.string()
    + " is no folder and cannot become one; choose another";
  return e;
}

} // namespace

struct host::parts {
  std::chrono::milliseconds drain{};
  std::shared_ptr<database> store;
};

result<std::unique_ptr<host>> host::open(const configuration& what) {
  auto& s = what.values;
  auto p = std::make_unique<parts>();
  p->drain = s.engine.drain_timeout;
  auto folder = std::filesystem::absolute(s.engine.data_dir);
  if (auto made = make_private_folder(folder); !made)
    return made.error();
  auto opened = database::open(folder / "store");
  if (!opened)
    return opened.error().within("open " + folder.string());
  p->store = std::move(*opened);
  return std::unique_ptr<host>{new host{std::move(p)}};
}

host::host(std::unique_ptr<parts> p) : parts_{std::move(p)} {}

host::~host() {
  stop();
}

std::vector<std::string> host::addresses() const {
  return {};
}

void host::stop() {
  if (!parts_)
    return;
  watchdog guard{parts_->drain + stop_slack, [] {
                   log::error("engine did not stop in time and ends itself");
                   ::_exit(exit_ours);
                 }};
  parts_.reset();
}

} // namespace troupe
