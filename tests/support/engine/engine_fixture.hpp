#pragma once

#include "actors/engine/engine_host.hpp"
#include "tests/support/engine/scripted_backend.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <string>

namespace troupe::test {

/// What to print about a result that should not be an error.
template <class T>
std::string why(const result<T>& r) {
  return r.has_value() ? std::string{"fine"} : to_string(r.error());
}

/// The one answer of an asynchronous call, waited for with a limit.
template <class T>
class answer {
public:
  handler<T> handle() {
    return [state = state_](result<T> r) { state->set_value(std::move(r)); };
  }
  bool wait(std::chrono::seconds limit = std::chrono::seconds{20}) {
    return future_.wait_for(limit) == std::future_status::ready;
  }
  bool is_there() {
    return future_.wait_for(std::chrono::seconds{0})
      == std::future_status::ready;
  }
  result<T> get() {
    if (!wait())
      return error{ec::internal, "the test waited in vain", {}, {}};
    return future_.get();
  }

private:
  std::shared_ptr<std::promise<result<T>>> state_
    = std::make_shared<std::promise<result<T>>>();
  std::future<result<T>> future_ = state_->get_future();
};

using run_answer_box = answer<std::shared_ptr<const run_result>>;

inline caller someone(std::string organization = {}) {
  caller who;
  who.organization = organization.empty() ? default_organization()
                                          : organization_id{organization};
  who.user = default_user();
  return who;
}

inline run_request source_run(std::string args = "{}") {
  run_request r;
  r.kind = run_kind::source;
  r.source = "def f(): return 1";
  r.function = "f";
  r.args_json = std::move(args);
  return r;
}

/// An engine with one backend in memory.
struct engine_fixture {
  explicit engine_fixture(scripted_backend::mode how
                          = scripted_backend::mode::answer,
                          engine_options options = {})
      : local{std::make_shared<scripted_backend>(backend_kind::local, how)} {
    options.backends.push_back(local);
    open(std::move(options));
  }

  void open(engine_options options) {
    if (options.threads == 0)
      options.threads = 2;
    auto opened = open_engine(std::move(options));
    BOOST_REQUIRE_MESSAGE(opened.has_value(), why(opened));
    host = std::move(*opened);
  }

  troupe::engine& engine() { return host->engine(); }

  result<std::shared_ptr<const run_result>>
  run(run_request request, caller who = someone(), event_sink events = {}) {
    run_answer_box box;
    engine().submit(std::move(who), std::move(request), box.handle(),
                    std::move(events));
    return box.get();
  }

  std::shared_ptr<scripted_backend> local;
  std::unique_ptr<engine_host> host;
};

} // namespace troupe::test
