#pragma once

#include "runtime/engine/sandbox_engine.hpp"
#include "runtime/model/codec/codec.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::test {

/// A process in memory: says what its command says behind `echo `, and ends at
/// once, unless that is `wait`: then it repeats its input until that is closed,
/// or until it gets a signal.
class fake_program final : public sandbox_program {
public:
  explicit fake_program(const process_spec& what) {
    record_.id = make_process_id();
    record_.argv = what.program();
    record_.tag = what.tag;
    record_.pid = 7;
    record_.started_at = now();
    out_ = what.input;
    const auto& line = record_.argv.back();
    if (line.starts_with("echo "))
      out_ += line.substr(5) + "\n";
    if (line != "wait")
      finish(process_reason::exited, line == "false" ? 1 : 0);
  }

  void say(const std::string& bytes) {
    std::vector<std::function<void()>> told;
    {
      std::lock_guard lock{mutex_};
      out_ += bytes;
      told.swap(waiting_);
    }
    for (auto& each : told)
      each();
  }
  void finish(process_reason why, int number) {
    std::vector<std::function<void()>> told;
    {
      std::lock_guard lock{mutex_};
      record_.reason = why;
      (why == process_reason::exited ? record_.exit_code : record_.signal)
        = number;
      record_.ended_at = now();
      told.swap(waiting_);
      for (auto& each : ended_)
        told.push_back(std::move(each));
      ended_.clear();
    }
    for (auto& each : told)
      each();
  }

  process_record record() const override {
    std::lock_guard lock{mutex_};
    auto r = record_;
    r.stdout_bytes = out_.size();
    return r;
  }
  output_piece read(output_stream which, std::uint64_t from,
                    std::size_t most) const override {
    std::lock_guard lock{mutex_};
    output_piece piece;
    piece.from = from;
    if (which == output_stream::out && from < out_.size())
      piece.bytes = out_.substr(static_cast<std::size_t>(from), most);
    return piece;
  }
  result<void> when_more(output_offsets read,
                         std::function<void()> then) override {
    {
      std::lock_guard lock{mutex_};
      if (!record_.ended() && out_.size() <= read.out) {
        waiting_.push_back(std::move(then));
        return {};
      }
    }
    then();
    return {};
  }
  void when_ended(std::function<void()> then) override {
    {
      std::lock_guard lock{mutex_};
      if (!record_.ended()) {
        ended_.push_back(std::move(then));
        return;
      }
    }
    then();
  }
  void write(std::string bytes, sandbox_handler<void> done) override {
    if (record().ended())
      return done(over());
    say(bytes);
    done({});
  }
  void close_input(sandbox_handler<void> done) override {
    if (record().ended())
      return done(over());
    finish(process_reason::exited, 0);
    done({});
  }
  void signal(std::int32_t number, sandbox_handler<void> done) override {
    if (record().ended())
      return done(over());
    finish(process_reason::signaled, number);
    done({});
  }

private:
  static sandbox_error over() {
    return {sandbox_problem::process_ended, ec::conflict, "it has ended"};
  }

  mutable std::mutex mutex_;
  process_record record_;
  std::string out_;
  std::vector<std::function<void()>> waiting_;
  std::vector<std::function<void()>> ended_;
};

/// Living sandboxes in memory. Handlers are called before a call returns.
class fake_sandboxes final : public sandbox_engine {
public:
  /// What the next call fails with; none: it does not.
  std::optional<sandbox_error> next_failure;

  void create(caller who, sandbox_spec what,
              done<sandbox_record_ptr> then) override {
    if (next_failure)
      return then(*std::exchange(next_failure, std::nullopt));
    auto r = std::make_shared<sandbox_record>();
    r->id = sandbox_id::make();
    r->organization = who.organization;
    r->name = what.name;
    r->metadata = what.metadata;
    r->template_name = what.template_name;
    r->created_at = now();
    r->timeout = what.timeout.value_or(std::chrono::seconds{300});
    r->state = what.wait_until_running ? sandbox_state::running
                                       : sandbox_state::queued;
    if (what.wait_until_running)
      r->ends_at = now() + r->timeout;
    std::unique_lock lock{mutex_};
    all_[r->id].record = r;
    lock.unlock();
    then(sandbox_record_ptr{r});
  }
  void find(caller who, sandbox_id id, done<sandbox_record_ptr> then) override {
    with<sandbox_record_ptr>(who, id, then, [](one& x) { return x.record; });
  }
  void list(caller who, sandbox_filter which,
            done<page<sandbox_record_ptr>> then) override {
    page<sandbox_record_ptr> found;
    std::unique_lock lock{mutex_};
    for (const auto& [id, x] : all_) {
      if (x.record->organization != who.organization || id.str() <= which.after
          || !which.accepts(*x.record))
        continue;
      if (found.items.size() == which.limit) {
        found.next = found.items.back()->id.str();
        break;
      }
      found.items.push_back(x.record);
    }
    lock.unlock();
    then(std::move(found));
  }
  void renew(caller who, sandbox_id id, std::chrono::milliseconds timeout,
             done<sandbox_record_ptr> then) override {
    with<sandbox_record_ptr>(who, id, then, [timeout](one& x) {
      auto next = std::make_shared<sandbox_record>(*x.record);
      next->timeout = timeout;
      next->ends_at = now() + timeout;
      return x.record = next;
    });
  }
  void remove(caller who, sandbox_id id, done<void> then) override {
    std::unique_lock lock{mutex_};
    auto i = all_.find(id);
    if (i == all_.end() || i->second.record->organization != who.organization) {
      lock.unlock();
      return then(missing());
    }
    all_.erase(i);
    lock.unlock();
    then({});
  }

  void start(caller who, sandbox_id id, process_spec what,
             done<sandbox_program_ptr> then) override {
    with<sandbox_program_ptr>(who, id, then, [&what](one& x) {
      auto made = std::make_shared<fake_program>(what);
      x.processes[made->record().id] = made;
      return sandbox_program_ptr{made};
    });
  }
  void find_process(caller who, sandbox_id id, std::string process,
                    done<sandbox_program_ptr> then) override {
    with<sandbox_program_ptr>(
      who, id, then, [&process](one& x) -> sandbox_result<sandbox_program_ptr> {
        auto i = x.processes.find(process);
        if (i == x.processes.end())
          return missing();
        return sandbox_program_ptr{i->second};
      });
  }
  void list_processes(caller who, sandbox_id id,
                      done<std::vector<sandbox_program_ptr>> then) override {
    with<std::vector<sandbox_program_ptr>>(who, id, then, [](one& x) {
      std::vector<sandbox_program_ptr> all;
      for (const auto& [name, p] : x.processes)
        all.push_back(p);
      return all;
    });
  }
  void remove_process(caller who, sandbox_id id, std::string process,
                      done<void> then) override {
    with<void>(who, id, then, [&process](one& x) -> sandbox_result<void> {
      if (x.processes.erase(process) == 0)
        return missing();
      return {};
    });
  }

  /// Where every port of every sandbox leads, on loopback; 0: nowhere.
  std::uint16_t server = 0;

  void connect(caller who, sandbox_id id, std::uint16_t port,
               done<unique_fd> then) override {
    with<unique_fd>(who, id, then, [&](one&) -> sandbox_result<unique_fd> {
      asked_ports.push_back(port);
      unique_fd s{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(server);
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (server == 0
          || ::connect(s.get(), reinterpret_cast<sockaddr*>(&to), sizeof to)
            != 0)
        return sandbox_error{sandbox_problem::nothing_listens, ec::unavailable,
                             "nothing in the sandbox listens on port "
                               + std::to_string(port)};
      ::fcntl(s.get(), F_SETFL, O_NONBLOCK);
      return s;
    });
  }
  void list_ports(caller who, sandbox_id id,
                  done<std::vector<std::uint16_t>> then) override {
    with<std::vector<std::uint16_t>>(
      who, id, then, [](one&) { return std::vector<std::uint16_t>{3000}; });
  }
  std::vector<std::uint16_t> asked_ports;

  void read_file(caller who, sandbox_id id, std::string path,
                 done<std::string> then) override {
    with<std::string>(who, id, then,
                      [&path](one& x) -> sandbox_result<std::string> {
                        auto i = x.files.find(path);
                        if (i == x.files.end())
                          return missing();
                        return i->second;
                      });
  }
  void write_file(caller who, sandbox_id id, std::string path,
                  std::string bytes, done<void> then) override {
    with<void>(who, id, then, [&](one& x) -> sandbox_result<void> {
      x.files[path] = bytes;
      return {};
    });
  }
  void list_files(caller who, sandbox_id id, std::string path,
                  done<std::vector<sandbox_entry>> then) override {
    with<std::vector<sandbox_entry>>(who, id, then, [&path](one& x) {
      std::vector<sandbox_entry> all;
      for (const auto& [name, bytes] : x.files)
        if (name.starts_with(path))
          all.push_back(entry(name, bytes));
      return all;
    });
  }
  void stat_file(caller who, sandbox_id id, std::string path,
                 done<sandbox_entry> then) override {
    with<sandbox_entry>(who, id, then,
                        [&path](one& x) -> sandbox_result<sandbox_entry> {
                          auto i = x.files.find(path);
                          if (i == x.files.end())
                            return missing();
                          return entry(path, i->second);
                        });
  }
  void make_folder(caller who, sandbox_id id, std::string,
                   done<void> then) override {
    with<void>(who, id, then, [](one&) -> sandbox_result<void> { return {}; });
  }
  void move_file(caller who, sandbox_id id, std::string from, std::string to,
                 done<void> then) override {
    with<void>(who, id, then, [&](one& x) -> sandbox_result<void> {
      auto file = x.files.extract(from);
      if (file.empty())
        return missing();
      file.key() = to;
      x.files.insert(std::move(file));
      return {};
    });
  }
  void remove_file(caller who, sandbox_id id, std::string path,
                   done<void> then) override {
    with<void>(who, id, then, [&path](one& x) -> sandbox_result<void> {
      if (x.files.erase(path) == 0)
        return missing();
      return {};
    });
  }

private:
  struct one {
    sandbox_record_ptr record;
    std::map<std::string, std::shared_ptr<fake_program>> processes;
    std::map<std::string, std::string> files;
  };

  static sandbox_error missing() {
    return sandbox_error{fail(ec::not_found, "there is no such thing")};
  }
  static sandbox_entry entry(const std::string& path,
                             const std::string& bytes) {
    return {path.substr(path.rfind('/') + 1), path, false, bytes.size()};
  }
  template <class T, class Work>
  void with(const caller& who, const sandbox_id& id, const done<T>& then,
            Work work) {
    if (next_failure)
      return then(*std::exchange(next_failure, std::nullopt));
    std::unique_lock lock{mutex_};
    auto i = all_.find(id);
    if (i == all_.end() || i->second.record->organization != who.organization) {
      lock.unlock();
      return then(missing());
    }
    sandbox_result<T> came = work(i->second);
    lock.unlock();
    then(std::move(came));
  }

  std::mutex mutex_;
  std::map<sandbox_id, one> all_;
};

} // namespace troupe::test
