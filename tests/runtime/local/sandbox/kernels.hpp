#pragma once

#include "runtime/engine/sandbox_kernel.hpp"
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::test {

/// What one cell told.
struct told_cell {
  std::string out;
  std::string err;
  std::vector<cell_event> events;
  std::optional<kernel_answer> answer; // nothing: the interpreter ended
  std::optional<result<process_end>> end;

  bool ok() const { return answer && answer->status == cell_status::ok; }
  bool failed() const { return answer && answer->status == cell_status::error; }
  /// The form of the last event that is not an error; "": there is none.
  std::string form(std::string_view mime = "text/plain") const {
    for (auto e = events.rbegin(); e != events.rend(); ++e)
      for (const auto& [name, content] : e->data)
        if (name == mime)
          return content;
    return {};
  }
  /// The class of what was raised.
  std::string raised() const {
    return events.empty() ? "" : events.back().name;
  }
};

/// One interpreter in a sandbox, called from a test's thread.
class kernel_under_test {
public:
  kernel_under_test(sandbox_host& host, const sandbox_handle& in,
                    context_language language, kernel_image_ptr image = {})
      : host_{host} {
    kernel_request what;
    what.language = language;
    what.image = std::move(image);
    auto came = host_.call(host_.provider().start_kernel(
      in, what, events(), within(std::chrono::seconds{30})));
    BOOST_REQUIRE_MESSAGE(came, (came ? "" : to_string(came.error())));
    kernel_ = *came;
  }
  ~kernel_under_test() {
    at_place([kernel = kernel_] { kernel->kill(); });
  }

  void begin(const std::string& code) {
    {
      std::lock_guard lock{state_->mutex};
      state_->cell.answer.reset();
      state_->cell.events.clear();
      state_->cell.out.clear();
      state_->cell.err.clear();
    }
    at_place([kernel = kernel_, code] {
      const auto begun = kernel->run(code);
      BOOST_TEST(begun.has_value());
    });
  }
  told_cell wait() {
    std::unique_lock lock{state_->mutex};
    const bool over
      = state_->changed.wait_for(lock, std::chrono::seconds{30}, [this] {
          return state_->cell.answer || state_->cell.end;
        });
    BOOST_REQUIRE(over);
    return state_->cell;
  }
  bool says(std::string_view text) {
    std::unique_lock lock{state_->mutex};
    return state_->changed.wait_for(lock, std::chrono::seconds{30}, [&] {
      return state_->cell.out.find(text) != std::string::npos;
    });
  }
  told_cell run(const std::string& code) {
    begin(code);
    return wait();
  }
  const std::shared_ptr<sandbox_kernel>& kernel() const { return kernel_; }
  result<kernel_image_ptr> save(const sandbox_handle& in,
                                std::chrono::milliseconds time
                                = std::chrono::seconds{30}) {
    return host_.call(host_.provider().save_kernel(in, kernel_, within(time)));
  }
  /// Until it has printed `ready`; then it is interrupted.
  told_cell interrupt(const std::string& code) {
    begin(code);
    BOOST_TEST(says("ready"));
    at_place([kernel = kernel_] { kernel->interrupt(); });
    return wait();
  }

private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    told_cell cell;
  };

  kernel_events events() {
    kernel_events e;
    const auto tell = [s = state_](auto change) {
      std::lock_guard lock{s->mutex};
      change(s->cell);
      s->changed.notify_all();
    };
    e.output = [tell](output_stream which, std::string_view bytes) {
      tell([&](told_cell& cell) {
        (which == output_stream::out ? cell.out : cell.err) += bytes;
      });
    };
    e.told = [tell](cell_event event) {
      tell([&](told_cell& cell) { cell.events.push_back(std::move(event)); });
    };
    e.done = [tell](kernel_answer how) {
      tell([&](told_cell& cell) { cell.answer = how; });
    };
    e.ended = [tell](result<process_end> how) {
      tell([&](told_cell& cell) { cell.end = std::move(how); });
    };
    return e;
  }
  void at_place(std::function<void()> work) {
    boost::asio::post(host_.host().backend().strand(), std::move(work));
  }

  sandbox_host& host_;
  std::shared_ptr<state> state_ = std::make_shared<state>();
  std::shared_ptr<sandbox_kernel> kernel_;
};

} // namespace troupe::test
