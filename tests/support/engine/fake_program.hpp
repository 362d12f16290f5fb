#pragma once

#include "runtime/engine/sandbox_engine.hpp"
#include "runtime/model/codec/codec.hpp"

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
    record_.terminal = what.terminal;
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

  void resize(terminal_size to, sandbox_handler<void> done) override {
    std::unique_lock lock{mutex_};
    const bool has = record_.terminal.has_value();
    if (has)
      record_.terminal = to;
    lock.unlock();
    if (has)
      done({});
    else
      done(sandbox_error{fail(ec::conflict, "it has no terminal")});
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

/// Events that are all there.
class fake_events final : public sandbox_events {
public:
  std::vector<sandbox_event> events;

  std::vector<sandbox_event> read(std::uint64_t after,
                                  std::size_t) const override {
    std::vector<sandbox_event> some;
    for (const auto& each : events)
      if (each.number > after)
        some.push_back(each);
    return some;
  }
  result<void> when_more(std::uint64_t, std::function<void()> then) override {
    then();
    return {};
  }
  bool over() const override { return true; }
};

} // namespace troupe::test
