// B50 through the providers: certificates that are none for the service, and
// handshakes that break off. A run learns why, nothing of it begins anywhere
// and nothing stays behind; the next one is well when the service is.
#include "tests/net/providers/fault_server.hpp"
#include "tests/support/http/tls_faces.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

using namespace troupe;
using namespace troupe::test;

namespace {

struct spoken_over_tls {
  log_catcher logged;
  tls_faces faces;
  e2b_stand_in e2b{&faces};
  daytona_stand_in daytona{&faces};
  aio_stand_in aio{&faces};

  std::unique_ptr<place> make(std::string name, backend_kind where,
                              stand_in& server, std::function<int()> alive,
                              const remote_side::make_provider& made) {
    auto p = std::make_unique<place>();
    p->name = std::move(name);
    p->where = where;
    p->server = &server;
    p->alive = std::move(alive);
    client_options how;
    how.ca_file = faces.authority();
    p->side.open(made, fault_house::bounds(), how);
    return p;
  }
  std::unique_ptr<place> at_e2b() {
    e2b_options o;
    o.api_key = secret{e2b_stand_in::api_key};
    o.api_url = o.sandbox_url = e2b.url();
    return make(
      "E2B", backend_kind::e2b, e2b.server(),
      [this] { return static_cast<int>(e2b.boxes().size()); },
      [o](auto client) { return make_e2b(client, o); });
  }
  std::unique_ptr<place> at_daytona() {
    daytona_options o;
    o.api_key = secret{daytona_stand_in::api_key};
    o.api_url = daytona.api_url();
    o.poll_first = 5ms;
    return make(
      "Daytona", backend_kind::daytona, daytona.server(),
      [this] { return daytona.alive(); },
      [o](auto client) { return make_daytona(client, o); });
  }
  std::unique_ptr<place> at_aio() {
    aio_options o;
    o.host = "127.0.0.1";
    o.port = aio.port();
    o.tls = true;
    o.api_key = secret{aio_stand_in::api_key};
    return make(
      "AIO", backend_kind::aio, aio.server(),
      [this] { return aio.directories(); },
      [o](auto client) { return make_aio(client, o); });
  }

  static prepared_run run_at(const place& p) {
    auto r = python_run(p.where, "def tool():\n  return 1\n");
    r.env.emplace("TOKEN", secret{value});
    r.deadline = steady::now() + 20s;
    return r;
  }
  static bool is_clean(place& p) {
    return p.alive() == 0 && p.side.leases->list(p.where).empty();
  }
};

constexpr std::pair<tls_face, std::string_view> wrong[]{
  {tls_face::expired, "certificate has expired"},
  {tls_face::of_another_name, "mismatch"},
  {tls_face::signed_by_itself, "self-signed"},
  {tls_face::signed_by_a_stranger, "unable to get local issuer"},
  {tls_face::too_old, "alert protocol version"},
  {tls_face::cut, "connect to 127.0.0.1:"},
  {tls_face::of_another_protocol, "127.0.0.1:"}, // OpenSSL may be first to see
};

/// All of them at one provider: they share the client.
std::span<const std::pair<tls_face, std::string_view>>
faces_for(const place& p) {
  std::span all{wrong};
  return p.where == backend_kind::e2b ? all : all.first(1);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(tls_faults, spoken_over_tls)

BOOST_AUTO_TEST_CASE(end_a_run_before_it_begins_and_say_why) {
  for (auto& p : {at_e2b(), at_daytona(), at_aio()})
    for (auto [face, why] : faces_for(*p))
      BOOST_TEST_CONTEXT(p->name << ": " << why) {
        BOOST_TEST(aio.wait_until_sessions_are_closed()); // not waited for
        p->server->show(face);
        auto asked = p->server->requests().size();
        auto outcome = p->side.run(run_at(*p));
        BOOST_REQUIRE(!outcome.answer.has_value());
        // So the run goes on somewhere else, which B54 shows with any reason.
        BOOST_TEST(!outcome.may_have_started);
        BOOST_TEST((outcome.answer.error().code == ec::unavailable));
        BOOST_TEST(contains(outcome.answer.error().text, why),
                   outcome.answer.error().text);
        BOOST_TEST(!contains(outcome.answer.error().text, value));
        BOOST_TEST(p->server->requests().size() == asked); // no key, nothing
        BOOST_TEST(is_clean(*p));
        p->server->show(tls_face::right);
        BOOST_TEST(p->side.good(run_at(*p)).value_json == "1");
        BOOST_TEST(is_clean(*p));
      }
  BOOST_TEST(!contains(log_catcher::all(), value));
}

BOOST_AUTO_TEST_CASE(hold_no_run_beyond_its_deadline) {
  const std::array places{at_e2b(), at_daytona(), at_aio()};
  const auto began = steady::now();
  std::vector<std::shared_ptr<waiting_observer>> watchers;
  for (auto& p : places) {
    p->server->show(tls_face::stalled);
    auto run = run_at(*p);
    run.deadline = began + 1'500ms;
    watchers.push_back(p->side.begin(run));
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    BOOST_TEST_CONTEXT(places[i]->name) {
      auto& p = places[i];
      auto outcome = watchers[i]->wait();
      p->side.rest();
      BOOST_TEST((steady::now() - began < 1'500ms + 3s));
      BOOST_REQUIRE(!outcome.answer.has_value());
      BOOST_TEST(contains(outcome.answer.error().text, "timed out"),
                 outcome.answer.error().text);
      BOOST_TEST(!outcome.may_have_started);
      BOOST_TEST(p->server->requests().empty());
      BOOST_TEST(is_clean(*p));
    }
}

/// The sandbox is there, and its service is somebody else: nothing more is said
/// to that one. What stayed is found when it is itself again.
BOOST_AUTO_TEST_CASE(leave_nothing_behind_in_the_middle_of_a_run) {
  const std::array places{at_e2b(), at_daytona(), at_aio()};
  std::vector<std::shared_ptr<waiting_observer>> watchers;
  for (auto& p : places) {
    auto run = run_at(*p);
    run.source = "import time\ndef tool():\n"
                 "  print('up', flush=True)\n  time.sleep(20)\n";
    run.deadline = steady::now() + 3s;
    watchers.push_back(p->side.begin(run));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    watchers[i]->wait_for_output("up");
    places[i]->server->show(tls_face::expired);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    BOOST_TEST_CONTEXT(places[i]->name) {
      auto& p = places[i];
      auto outcome = watchers[i]->wait();
      BOOST_REQUIRE(!outcome.answer.has_value());
      BOOST_TEST(outcome.may_have_started);
      p->side.rest();
      p->server->show(tls_face::right);
      auto until = steady::now() + 30s;
      while (!is_clean(*p) && steady::now() < until)
        fault_house::reconcile(*p);
      BOOST_TEST(is_clean(*p));
    }
  BOOST_TEST(!contains(log_catcher::all(), value));
}

BOOST_AUTO_TEST_SUITE_END()
