#pragma once

#include "runtime/engine/sandbox_trees.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::test {

/// A watch that tells what a test lets it.
class fake_watch final : public sandbox_watch {
public:
  void tell(file_event one) {
    std::unique_lock lock{mutex_};
    all_.push_back(std::move(one));
    wake(std::move(lock));
  }
  void end(error why) {
    std::unique_lock lock{mutex_};
    over_ = std::move(why);
    wake(std::move(lock));
  }
  bool is_closed() const {
    std::lock_guard lock{mutex_};
    return closed_;
  }

  std::vector<file_event> take() override {
    std::lock_guard lock{mutex_};
    return std::exchange(all_, {});
  }
  std::optional<error> over() const override {
    std::lock_guard lock{mutex_};
    return over_;
  }
  void when_more(std::function<void()> then) override {
    std::unique_lock lock{mutex_};
    reader_ = std::move(then);
    if (!all_.empty() || over_)
      wake(std::move(lock));
  }
  void close() override {
    {
      std::lock_guard lock{mutex_};
      closed_ = true;
    }
    end(fail(ec::conflict, "it was ended"));
  }

private:
  void wake(std::unique_lock<std::mutex> lock) {
    auto told = std::exchange(reader_, nullptr);
    lock.unlock();
    if (told)
      told();
  }

  mutable std::mutex mutex_;
  std::vector<file_event> all_;
  std::optional<error> over_;
  std::function<void()> reader_;
  bool closed_ = false;
};

/// Trees of sandboxes whose files are in memory. An archive is the text that a
/// test gives, or came with; `bad` is none.
class fake_trees final : public sandbox_trees {
public:
  explicit fake_trees(sandbox_engine& files) : files_{files} {}
  ~fake_trees() override {
    for (auto& each : threads_)
      each.join();
  }

  std::string packed = "an archive";
  std::shared_ptr<fake_watch> watched = std::make_shared<fake_watch>();
  std::string unpacked() const {
    std::lock_guard lock{mutex_};
    return unpacked_;
  }

  void read_part(caller who, sandbox_id id, std::string path, byte_range which,
                 done<file_part> then) override {
    files_.read_file(who, id, std::move(path),
                     [which, then](sandbox_result<std::string> all) {
                       if (!all)
                         return then(all.error());
                       file_part part;
                       part.total = all->size();
                       if (const auto place = which.in(part.total)) {
                         part.from = place->from;
                         part.bytes = all->substr(place->from, place->size);
                       }
                       then(std::move(part));
                     });
  }
  void search(caller, sandbox_id, file_search what,
              done<files_found> then) override {
    files_found found;
    found.matches.push_back({what.path + "/a", false, false, 5, 0, {}});
    if (!what.text.empty()) {
      found.matches.front().line = 7;
      found.matches.front().text = "the " + what.text;
      found.whole = what.most > 1;
    }
    then(std::move(found));
  }
  void pack(caller, sandbox_id, std::string path, unique_fd to,
            done<archive_count> then) override {
    const bool breaks = path.ends_with("/bad");
    aside([to = std::make_shared<unique_fd>(std::move(to)), then, breaks,
           text = packed] {
      std::string_view left{text};
      while (!left.empty()) {
        const auto n
          = ::send(to->get(), left.data(), left.size(), MSG_NOSIGNAL);
        if (n <= 0)
          break;
        left.remove_prefix(static_cast<std::size_t>(n));
      }
      to->reset();
      if (breaks)
        then(sandbox_error{fail(ec::conflict, "a file changed")});
      else
        then(archive_count{1, text.size()});
    });
  }
  void unpack(caller, sandbox_id, std::string, unique_fd from,
              done<archive_count> then) override {
    aside([this, from = std::make_shared<unique_fd>(std::move(from)), then] {
      std::string all;
      char some[4096];
      for (ssize_t n = 0; (n = ::read(from->get(), some, sizeof some)) > 0;) {
        all.append(some, static_cast<std::size_t>(n));
        if (all == "bad")
          return then(
            sandbox_error{fail(ec::invalid_request, "it is no tar archive")});
      }
      {
        std::lock_guard lock{mutex_};
        unpacked_ = all;
      }
      then(archive_count{1, all.size()});
    });
  }
  void watch(caller, sandbox_id, std::string path, bool,
             done<sandbox_watch_ptr> then) override {
    if (path == "/none")
      return then(sandbox_error{fail(ec::not_found, "there is no folder")});
    then(sandbox_watch_ptr{watched});
  }

private:
  void aside(std::function<void()> work) {
    std::lock_guard lock{mutex_};
    threads_.emplace_back(std::move(work));
  }

  sandbox_engine& files_;
  mutable std::mutex mutex_;
  std::string unpacked_;
  std::vector<std::thread> threads_;
};

} // namespace troupe::test
