// What happens to a sandbox's files, as it is told.
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(watches_of_a_sandbox)

namespace {

constexpr std::chrono::seconds long_enough{30};

/// What a watch has told, from another thread.
class seen_events {
public:
  file_watch_events events() {
    file_watch_events to;
    to.told = [this](std::vector<file_event> some) {
      std::lock_guard lock{mutex_};
      for (auto& each : some)
        all_.push_back(std::move(each));
    };
    to.ended = [this](error) {
      std::lock_guard lock{mutex_};
      over_ = true;
    };
    return to;
  }
  bool has(file_event::kind what, const std::string& path,
           const std::string& to = {}) {
    return eventually([&] {
      std::lock_guard lock{mutex_};
      return std::ranges::any_of(all_, [&](const file_event& e) {
        return e.what == what && e.path == path && e.to == to;
      });
    });
  }
  bool ends() {
    return eventually([&] {
      std::lock_guard lock{mutex_};
      return over_;
    });
  }

private:
  std::mutex mutex_;
  std::vector<file_event> all_;
  bool over_ = false;
};

} // namespace

BOOST_AUTO_TEST_CASE(what_happens_to_files_is_told) {
  TROUPE_NEEDS("user_namespace");
  using kind = file_event::kind;
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host.shell(*box, "mkdir -p w/in other").good());
  seen_events seen;
  auto watch = host.call(host.files().watch(
    *box, "/home/user/w", true, seen.events(), within(long_enough)));
  BOOST_REQUIRE_MESSAGE(watch, (watch ? "" : to_string(watch.error())));
  host.shell(*box,
             "cd w; echo x > f; chmod 600 f; mv f in/g; mv in in2; echo y "
             "> in2/h; mkdir -p new/deeper; touch new/deeper/k; mv in2/h "
             "../other/h; rm in2/g");
  const std::string w{"/home/user/w/"};
  BOOST_TEST(seen.has(kind::created, w + "f"));
  BOOST_TEST(seen.has(kind::written, w + "f"));
  BOOST_TEST(seen.has(kind::changed, w + "f"));
  BOOST_TEST(seen.has(kind::moved, w + "f", w + "in/g"));
  BOOST_TEST(seen.has(kind::moved, w + "in", w + "in2"));
  BOOST_TEST(seen.has(kind::written, w + "in2/h"));
  BOOST_TEST(seen.has(kind::created, w + "new/deeper/k"));
  BOOST_TEST(seen.has(kind::removed, w + "in2/h"));
  BOOST_TEST(seen.has(kind::removed, w + "in2/g"));
  host.shell(*box, "rm -r w");
  BOOST_TEST(seen.ends());
}

BOOST_AUTO_TEST_CASE(a_watch_ends_with_its_reader_and_there_are_four) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  seen_events seen;
  const auto watch = [&] {
    return host.call(host.files().watch(*box, "/tmp", false, seen.events(),
                                        within(long_enough)));
  };
  const auto let_go = [&](file_watch_ptr gone) {
    auto coroutine = [&]() -> boost::asio::awaitable<bool> {
      gone.reset();
      co_return true;
    };
    host.call(coroutine());
  };
  std::vector<file_watch_ptr> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(watch().value());
  BOOST_TEST((watch().error().code == ec::exhausted));
  let_go(std::move(all.back()));
  all.pop_back();
  BOOST_TEST(eventually([&] {
    auto again = watch();
    if (!again)
      return false;
    all.push_back(std::move(*again));
    return true;
  }));
  BOOST_TEST((host
                .call(host.files().watch(*box, "/tmp/none", false,
                                         seen.events(), within(long_enough)))
                .has_error()));
  for (auto& each : all)
    let_go(std::move(each));
}

BOOST_AUTO_TEST_SUITE_END()
