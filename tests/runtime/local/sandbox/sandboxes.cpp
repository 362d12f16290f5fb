#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace troupe::test {

process_events process_watch::events() {
  auto self = shared_from_this();
  process_events events;
  events.output = [self](output_stream, std::string_view text) {
    std::lock_guard lock{self->mutex_};
    self->out_ += text;
    self->changed_.notify_all();
  };
  events.ended = [self](result<process_end> end) {
    std::lock_guard lock{self->mutex_};
    BOOST_CHECK(!self->end_); // once
    self->end_ = std::move(end);
    self->changed_.notify_all();
  };
  return events;
}

bool process_watch::wait_for_output(const std::string& text) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, std::chrono::seconds{30}, [&] {
    return end_ || out_.find(text) != std::string::npos;
  });
  return out_.find(text) != std::string::npos;
}

result<process_end> process_watch::wait() {
  std::unique_lock lock{mutex_};
  const bool ended = changed_.wait_for(lock, std::chrono::seconds{30},
                                       [&] { return end_.has_value(); });
  BOOST_REQUIRE(ended);
  return *end_;
}

std::string process_watch::output() {
  std::lock_guard lock{mutex_};
  return out_;
}

sandbox_request sandbox_host::request() {
  sandbox_request wanted;
  wanted.tag = "test";
  wanted.lifetime = std::chrono::minutes{10};
  wanted.network.mode = network_mode::off;
  return wanted;
}

sandbox_handle sandbox_host::make(sandbox_request wanted) {
  auto made = call(
    sandboxes_->create(std::move(wanted), within(std::chrono::seconds{30})));
  BOOST_REQUIRE_MESSAGE(made.sandbox, to_string(made.sandbox.error()));
  return *made.sandbox;
}

executed sandbox_host::run(const sandbox_handle& in, process_request what,
                           std::chrono::milliseconds time) {
  executed seen;
  output_sink sink = [&seen](output_stream from, std::string_view text) {
    (from == output_stream::out ? seen.out : seen.err) += text;
  };
  seen.how.emplace(
    call(sandboxes_->execute(in, std::move(what), sink, within(time))));
  return seen;
}

executed sandbox_host::shell(const sandbox_handle& in, std::string line,
                             std::chrono::milliseconds time) {
  process_request what;
  what.argv = {"/bin/sh", "-c", std::move(line)};
  return run(in, std::move(what), time);
}

result<sandbox_process_ptr> sandbox_host::start(const sandbox_handle& in,
                                                std::string line,
                                                process_watch& seen,
                                                bool open_input) {
  process_request what;
  what.argv = {"/bin/sh", "-c", std::move(line)};
  return call(sandboxes_->start(in, std::move(what), open_input, seen.events(),
                                within(std::chrono::seconds{30})));
}

void sandbox_host::destroy(const sandbox_handle& sandbox) {
  auto gone
    = call(sandboxes_->destroy(sandbox, within(std::chrono::seconds{30})));
  BOOST_CHECK_MESSAGE(gone, to_string(gone.error()));
}

result<void> sandbox_host::write(const sandbox_handle& in, std::string path,
                                 std::string content) {
  std::vector<sandbox_file> files{{std::move(path), std::move(content)}};
  return call(this->files().write(in, std::move(files),
                                  within(std::chrono::seconds{30})));
}

result<std::string> sandbox_host::read(const sandbox_handle& in,
                                       std::string path) {
  return call(
    files().read(in, std::move(path), within(std::chrono::seconds{30})));
}

result<std::vector<std::string>> sandbox_host::names(const sandbox_handle& in,
                                                     std::string path) {
  auto listed
    = call(files().list(in, std::move(path), within(std::chrono::seconds{30})));
  if (!listed)
    return listed.error();
  std::vector<std::string> names;
  for (const auto& entry : *listed)
    names.push_back(entry.name + (entry.folder ? "/" : ""));
  std::ranges::sort(names);
  return names;
}

result<void> sandbox_host::remove(const sandbox_handle& in, std::string path) {
  return call(
    files().remove(in, std::move(path), within(std::chrono::seconds{30})));
}

result<void> sandbox_host::move(const sandbox_handle& in, std::string from,
                                std::string to) {
  return call(files().move(in, std::move(from), std::move(to),
                           within(std::chrono::seconds{30})));
}

result<void> sandbox_host::make_folder(const sandbox_handle& in,
                                       std::string path) {
  return call(
    files().make_folder(in, std::move(path), within(std::chrono::seconds{30})));
}

result<sandbox_entry> sandbox_host::stat(const sandbox_handle& in,
                                         std::string path) {
  return call(
    files().stat(in, std::move(path), within(std::chrono::seconds{30})));
}

local_options without_interpreters() {
  local_options options;
  options.zygote.enabled = false;
  options.ready_node = 0;
  return options;
}

std::string status_line(int pid, const std::string& name) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) {
      const auto value = line.find_first_not_of(" \t", name.size() + 1);
      return value == line.npos ? "" : line.substr(value);
    }
  return {};
}

std::vector<int> processes_below(int pid) {
  std::map<int, int> parents;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", code)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos)
      continue;
    std::ifstream file{entry.path() / "status"};
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("PPid:"))
        parents[std::stoi(name)] = std::stoi(line.substr(5));
  }
  std::set<int> found{pid};
  for (bool more = true; more;) {
    more = false;
    for (const auto& [child, parent] : parents)
      more = (found.contains(parent) && found.insert(child).second) || more;
  }
  found.erase(pid);
  return {found.begin(), found.end()};
}

} // namespace troupe::test
