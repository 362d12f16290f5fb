#pragma once

#include "runtime/engine/sandbox_engine.hpp"
#include "runtime/model/codec/codec.hpp"
#include "tests/support/engine/fake_contexts.hpp"
#include "tests/support/engine/fake_program.hpp"
#include "tests/support/engine/fake_trees.hpp"

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
    r->session = what.session;
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
  void connect(caller who, sandbox_id id,
               std::optional<std::chrono::milliseconds> timeout,
               done<sandbox_record_ptr> then) override {
    with<sandbox_record_ptr>(who, id, then, [timeout](one& x) {
      return x.put([&](sandbox_record& r) {
        r.timeout = timeout.value_or(r.timeout);
        r.state = sandbox_state::running;
      });
    });
  }
  void change(caller who, sandbox_id id, sandbox_change what,
              done<sandbox_record_ptr> then) override {
    with<sandbox_record_ptr>(who, id, then, [&what](one& x) {
      return x.put([&](sandbox_record& r) {
        for (const auto& [name, value] : what.metadata)
          if (value)
            r.metadata[name] = *value;
          else
            r.metadata.erase(name);
        r.idle_timeout = what.idle_timeout.value_or(r.idle_timeout);
        r.on_timeout = what.on_timeout.value_or(r.on_timeout);
        r.network = what.network.value_or(r.network);
      });
    });
  }
  void pause(caller who, sandbox_id id,
             done<sandbox_record_ptr> then) override {
    enter(who, id, sandbox_state::paused, then);
  }
  void resume(caller who, sandbox_id id,
              done<sandbox_record_ptr> then) override {
    enter(who, id, sandbox_state::running, then);
  }
  void events(caller who, sandbox_id id,
              done<sandbox_events_ptr> then) override {
    with<sandbox_events_ptr>(who, id, then, [](one& x) {
      auto all = std::make_shared<fake_events>();
      all->events.push_back({1,
                             now(),
                             sandbox_event::kind::state,
                             std::string{to_string(x.record->state)},
                             {}});
      all->events.push_back(
        {2, now(), sandbox_event::kind::process_ended, "p_1", "exited"});
      return sandbox_events_ptr{all};
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

  void snapshot(caller who, sandbox_id id, std::string name,
                done<snapshot_record_ptr> then) override {
    with<snapshot_record_ptr>(who, id, then, [&](one& x) {
      auto r = std::make_shared<snapshot_record>();
      r->id = sandbox_id::make();
      r->organization = who.organization;
      r->name = name;
      r->sandbox = x.record->id;
      r->created_at = now();
      snapshots_[r->id.str()] = r;
      return snapshot_record_ptr{r};
    });
  }
  void list_snapshots(caller,
                      done<std::vector<snapshot_record_ptr>> then) override {
    std::vector<snapshot_record_ptr> all;
    for (const auto& [id, r] : snapshots_)
      all.push_back(r);
    then(all);
  }
  void find_snapshot(caller, std::string which,
                     done<snapshot_record_ptr> then) override {
    auto i = snapshots_.find(which);
    if (i == snapshots_.end())
      return then(missing());
    then(i->second);
  }
  void remove_snapshot(caller, std::string which, done<void> then) override {
    if (snapshots_.erase(which) == 0)
      return then(missing());
    then({});
  }
  void rollback(caller who, sandbox_id id, std::string,
                done<sandbox_record_ptr> then) override {
    with<sandbox_record_ptr>(who, id, then, [](one& x) { return x.record; });
  }
  void fork(caller who, sandbox_id id, fork_spec what,
            done<forks> then) override {
    with<forks>(who, id, then, [&what](one& x) {
      forks all(what.count, x.record);
      all.back()
        = sandbox_error{sandbox_problem::queue_full, ec::exhausted, "no room"};
      return all;
    });
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

  sandbox_contexts* contexts() override { return &contexts_; }

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

  sandbox_trees* trees() override { return &all_trees; }
  fake_trees all_trees{*this};

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

    template <class Change>
    sandbox_record_ptr put(Change how) {
      auto next = std::make_shared<sandbox_record>(*record);
      how(*next);
      return record = next;
    }
  };
  void enter(const caller& who, const sandbox_id& id, sandbox_state next,
             const done<sandbox_record_ptr>& then) {
    with<sandbox_record_ptr>(who, id, then, [next](one& x) {
      return x.put([&](sandbox_record& r) { r.state = next; });
    });
  }

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

  fake_contexts contexts_;
  std::mutex mutex_;
  std::map<sandbox_id, one> all_;
  std::map<std::string, snapshot_record_ptr> snapshots_;
};

} // namespace troupe::test
