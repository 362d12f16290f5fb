#include "runtime/packages/environment_service.hpp"
#include "tests/runtime/packages/builder_fixture.hpp"

#include <future>

using namespace troupe;
using namespace troupe::test;

namespace {

/// Somebody who watches a build.
class watcher {
public:
  environment_watch watch() {
    environment_watch w;
    w.progress = [this](std::string_view line) {
      std::lock_guard lock{mutex_};
      lines_.emplace_back(line);
    };
    w.finished = [this](const environment_record& r) { end_.set_value(r); };
    return w;
  }
  environment_record wait() { return future_.get(); }
  std::vector<std::string> lines() {
    std::lock_guard lock{mutex_};
    return lines_;
  }

private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::promise<environment_record> end_;
  std::future<environment_record> future_ = end_.get_future();
};

struct fixture : builder_fixture {
  std::shared_ptr<environment_service> desk
    = std::make_shared<environment_service>(builder);
  organization_id mine = default_organization();

  environment_request wish(std::string name, bool afresh = false) {
    environment_request w;
    w.pip = {pip(std::move(name))};
    w.afresh = afresh;
    return w;
  }
  result<void> remove(const std::string& fingerprint) {
    std::promise<result<void>> done;
    desk->remove(mine, fingerprint,
                 [&](result<void> r) { done.set_value(std::move(r)); });
    return done.get_future().get();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(environment_service_suite, fixture)

BOOST_AUTO_TEST_CASE(shows_a_build_from_its_beginning_to_its_end) {
  watcher first, second;
  auto fingerprint = desk->build(mine, wish("numpy"), first.watch());
  auto installer = inner->next();
  BOOST_TEST(
    (desk->find(mine, fingerprint)->state == environment_state::building));
  BOOST_TEST(desk->watch(mine, fingerprint, second.watch()).has_value());
  installer.observer->output(output_stream::out, "Collecting numpy\n");
  BOOST_TEST(desk->find(mine, fingerprint)->progress == "Collecting numpy");
  BOOST_TEST(remove(fingerprint).has_error()); // not while it is built
  install(installer);
  for (auto w : {&first, &second}) {
    auto end = w->wait();
    BOOST_TEST((end.state == environment_state::ready));
    BOOST_TEST(end.fingerprint == fingerprint);
    BOOST_TEST(w->lines().back() == "Collecting numpy");
  }
  BOOST_TEST(desk->list(mine).size() == 1u);
  BOOST_TEST(desk->list(organization_id::make()).empty());
}

BOOST_AUTO_TEST_CASE(serves_the_runs_that_name_the_same_packages) {
  watcher w;
  auto fingerprint = desk->build(mine, wish("numpy"), w.watch());
  install(inner->next());
  w.wait();
  outer->start(run_with({pip("numpy")}), std::make_shared<waiting_observer>());
  auto tool = inner->next(); // no installer in between
  auto home = fs::path{tool.run->mounts.at(0).host};
  BOOST_TEST(home.filename().string().starts_with(fingerprint));
  BOOST_TEST(remove(fingerprint).has_error()); // a run uses it
  tool.observer->finished(ended(*tool.run, run_status::success));
  BOOST_TEST(remove(fingerprint).has_value());
  BOOST_TEST(!desk->find(mine, fingerprint));
}

BOOST_AUTO_TEST_CASE(remembers_why_a_build_failed_until_it_works) {
  watcher bad, good;
  auto fingerprint = desk->build(mine, wish("numpie"), bad.watch());
  auto installer = inner->next();
  installer.observer->output(output_stream::err, "ERROR: no such thing\n");
  installer.observer->finished(ended(*installer.run, run_status::error));
  auto end = bad.wait();
  BOOST_TEST((end.state == environment_state::failed));
  auto kept = desk->find(mine, fingerprint);
  BOOST_TEST_REQUIRE((kept && kept->failure));
  BOOST_TEST(kept->failure->text.find("no such thing") != std::string::npos);
  watcher late;
  BOOST_TEST(desk->watch(mine, fingerprint, late.watch()).has_value());
  BOOST_TEST((late.wait().state == environment_state::failed));
  desk->build(mine, wish("numpie"), good.watch());
  install(inner->next());
  BOOST_TEST((good.wait().state == environment_state::ready));
  BOOST_TEST(
    (desk->find(mine, fingerprint)->state == environment_state::ready));
}

BOOST_AUTO_TEST_CASE(builds_afresh_when_asked_to) {
  watcher first, second;
  auto one = desk->build(mine, wish("numpy"), first.watch());
  install(inner->next());
  auto was = first.wait();
  auto two = desk->build(mine, wish("numpy", true), second.watch());
  install(inner->next()); // an installer again
  BOOST_TEST(one == two);
  BOOST_TEST((*second.wait().built_at > *was.built_at));
}

BOOST_AUTO_TEST_CASE(builds_afresh_beside_the_runs_that_use_the_old_one) {
  watcher first, second;
  desk->build(mine, wish("numpy"), first.watch());
  install(inner->next());
  first.wait();
  const auto home_of = [](const held_backend::held& h) {
    return fs::path{h.run->mounts.at(0).host};
  };
  auto seen = std::make_shared<waiting_observer>();
  outer->start(run_with({pip("numpy")}), seen);
  auto old = inner->next();
  auto fingerprint = desk->build(mine, wish("numpy", true), second.watch());
  auto installer = inner->next();
  BOOST_TEST(
    (desk->find(mine, fingerprint)->state == environment_state::building));
  install(installer);
  BOOST_TEST((second.wait().state == environment_state::ready));
  outer->start(run_with({pip("numpy")}), std::make_shared<waiting_observer>());
  auto fresh = inner->next();
  BOOST_TEST(home_of(fresh) != home_of(old));
  BOOST_TEST(fs::exists(home_of(old) / "installed"));
  auto left_behind = home_of(old);
  old.observer->finished(ended(*old.run, run_status::success));
  seen->wait();
  old = {};                  // the last user has gone, and with it what it used
  std::promise<void> queued; // behind what is to be done
  builder->forget(mine, "nothing", [&](result<void>) { queued.set_value(); });
  queued.get_future().wait();
  BOOST_TEST(!fs::exists(left_behind));
  BOOST_TEST(fs::exists(home_of(fresh) / "installed"));
}

BOOST_AUTO_TEST_CASE(keeps_the_old_one_when_a_new_build_fails) {
  watcher first, second;
  auto fingerprint = desk->build(mine, wish("numpy"), first.watch());
  install(inner->next());
  first.wait();
  desk->build(mine, wish("numpy", true), second.watch());
  auto installer = inner->next();
  installer.observer->finished(ended(*installer.run, run_status::error));
  BOOST_TEST((second.wait().state == environment_state::failed));
  BOOST_TEST(
    (desk->find(mine, fingerprint)->state == environment_state::ready));
}

BOOST_AUTO_TEST_CASE(knows_nothing_of_what_nobody_built) {
  watcher w;
  BOOST_TEST(desk->watch(mine, "f", w.watch()).has_error());
  BOOST_TEST(remove("f").has_error());
}

BOOST_AUTO_TEST_SUITE_END()
