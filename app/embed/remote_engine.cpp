#include "actors/caf/actor_system.hpp"
#include "actors/caf/request.hpp"
#include "actors/caf/request_router.hpp"
#include "actors/cluster/basp_adapter.hpp"
#include "actors/cluster/link_dialer.hpp"
#include "actors/cluster/link_monitor.hpp"
#include "actors/cluster/node_identity.hpp"
#include "actors/context/engine_options.hpp"
#include "app/embed/actor_access.hpp"
#include "app/embed/public_conversions.hpp"
#include "app/embed/stored_items.hpp"

#include <caf/io/middleman.hpp>

namespace troupe {

namespace {

constexpr std::size_t client_threads = 1; // of the scheduler
constexpr std::uint64_t the_link = 1;     // the router's only route

/// When an answer to this message will not come any more.
std::chrono::steady_clock::time_point end_of(const run_request& request) {
  const auto limit = request.deadline.count() > 0 ? request.deadline
                                                  : deadline_rules{}.longest;
  return std::chrono::steady_clock::now() + limit + answer_slack;
}

void lose_all(request_router& router) {
  router.fail_route(the_link,
                    to_caf({ec::timeout,
                            "the connection to the engine was lost; the run "
                            "may have been executed"}));
}

request_options options_of_question() {
  return {the_link, caf::message_priority::normal,
          std::chrono::steady_clock::now() + answer_slack};
}

run_reference reference_to(std::string_view run,
                           std::string_view organization) {
  run_reference which;
  which.id = run;
  which.organization = caller_for(organization).organization.str();
  return which;
}

void tell_output(const run_result& r, const api::on_event& events) {
  std::uint64_t sequence = 0;
  for (const auto& [kind, text] :
       {std::pair{"stdout", &r.stdout_text}, {"stderr", &r.stderr_text}})
    if (!text->empty())
      events({++sequence, kind, *text});
}

std::variant<api::record, api::failure>
record_of(const result<run_status_message>& note) {
  if (!note)
    return failure_from(note.error());
  return record_from(to_record(*note));
}

class remote_engine final : public api::engine, public actor_access {
public:
  using api::engine::submit;

  ~remote_engine() override { stop(); }

  result<void> open(const std::string& host, std::uint16_t port,
                    std::chrono::milliseconds patience) {
    const logger_released_at_end last;
    if (!has_random_node_id())
      return error{ec::internal, "this node has no unique id", {}, {}};
    auto found = system_.middleman().remote_actor<gateway_actor>(host, port);
    if (!found)
      return error{ec::unavailable,
                   "connect to " + host + ":" + std::to_string(port) + ": "
                     + system_.render(found.error()),
                   {},
                   {}};
    gate_ = std::move(*found);
    return say_hello(patience);
  }

  /// The same over a link of our own.
  result<void> open(const std::string& host, std::uint16_t port,
                    const link_identity& who,
                    std::chrono::milliseconds patience) {
    const logger_released_at_end last;
    if (!has_random_node_id())
      return error{ec::internal, "this node has no unique id", {}, {}};
    auto broker = basp_broker_of(system_);
    auto met = outbound_link::open(host, port, who, patience);
    if (!met)
      return met.error();
    link_ = std::move(*met);
    auto found
      = adopt_outbound(system_, broker, link_->take_caf_socket(), patience);
    if (!found) {
      const auto place = "connect to " + host + ":" + std::to_string(port);
      const auto why = link_->why_cut();
      if (!why.empty())
        return error{ec::denied, place + ": " + why};
      return std::move(found).error().within(place
                                             + " (does it trust our CA?)");
    }
    gate_ = std::move(*found);
    return say_hello(patience);
  }

  result<void> say_hello(std::chrono::milliseconds patience) {
    // A handle may be an old, dead one: only an answer proves the link.
    result<void> heard;
    caf::scoped_actor self{system_};
    self->request(gate_, patience, hello_v, hello{})
      .receive(
        [&](const hello& them) {
          if (them.version != wire_version)
            heard
              = error{ec::invalid_request,
                      "the engine uses version " + std::to_string(them.version)
                        + " of the protocol, this client uses "
                        + std::to_string(wire_version),
                      {},
                      {}};
        },
        [&](const caf::error& e) { heard = from_caf(e).within("handshake"); });
    if (heard) {
      auto gone = [router = router_, lost = lost_] {
        *lost = true;
        lose_all(*router);
      };
      watch_ = system_.spawn(link_watch, gate_, router_, std::move(gone));
    }
    return heard;
  }

  std::string submit(api::message m, api::on_reply done) override {
    return submit(std::move(m), std::move(done), {});
  }

  std::string submit(api::message m, api::on_reply done,
                     api::on_event events) override {
    auto finish = [done = std::move(done),
                   events = std::move(events)](result<run_answer> a) {
      auto r = result_of(std::move(a));
      if (!r)
        return done(failure_from(r.error()));
      if (events)
        tell_output(**r, events);
      done(answer_from(**r));
    };
    return send<run_answer>(run_v, m, std::move(finish));
  }

  std::string start(api::message m, api::on_record accepted) override {
    auto finish
      = [accepted = std::move(accepted)](result<run_status_message> note) {
          accepted(record_of(note));
        };
    return send<run_status_message>(start_v, m, std::move(finish));
  }

  void find(std::string_view run, std::string_view organization,
            api::on_record found) override {
    auto finish = [found = std::move(found)](result<run_status_message> note) {
      found(record_of(note));
    };
    say<run_status_message>(options_of_question(), std::move(finish), find_v,
                            reference_to(run, organization));
  }

  void cancel(std::string_view run, std::string_view organization) override {
    say<run_status_message>(
      options_of_question(), [](const result<run_status_message>&) {}, cancel_v,
      reference_to(run, organization));
  }

  std::future<api::stored> put_tool(api::tool, std::string) override {
    return stores_nothing();
  }
  std::future<api::stored> delete_tool(std::string, std::string) override {
    return stores_nothing();
  }
  std::future<api::stored> set_variable(std::string, std::string, std::string,
                                        std::string) override {
    return stores_nothing();
  }
  std::future<api::stored> delete_variable(std::string, std::string,
                                           std::string) override {
    return stores_nothing();
  }
  std::future<api::stored> put_config(std::string, std::string,
                                      std::string) override {
    return stores_nothing();
  }

  api::actor_handle handle() override { return {&system_, gate_}; }

  void stop() override {
    if (watch_)
      caf::anon_send_exit(watch_, caf::exit_reason::user_shutdown);
    watch_ = caf::actor{};
    router_->shutdown();
    gate_ = gateway_actor{};
    link_.reset();
  }

private:
  static std::future<api::stored> stores_nothing() {
    return refused(bad_request("a link carries runs, and no changes of what is "
                               "stored; use HTTP or the troupe command"));
  }

  template <class Answer, class Word, class Finish>
  std::string send(Word word, const api::message& m, Finish finish) {
    auto what = execution_from(m);
    if (!what) {
      finish(result<Answer>{what.error()});
      return {};
    }
    auto id = what->request->id.str();
    const request_options by{the_link, caf::message_priority::normal,
                             end_of(*what->request)};
    say<Answer>(by, std::move(finish), word, std::move(*what));
    return id;
  }

  /// A gate that is gone swallows what it is sent.
  template <class Answer, class Finish, class... Ts>
  void say(const request_options& by, Finish finish, Ts&&... xs) {
    if (*lost_)
      return finish(result<Answer>{error{
        ec::unavailable, "the connection to the engine was lost; reconnect"}});
    ask<Answer>(*router_, by, gate_, std::move(finish),
                std::forward<Ts>(xs)...);
    if (*lost_) // meanwhile
      lose_all(*router_);
  }

  system_config config_{client_threads, true};
  caf::actor_system system_{config_};
  std::shared_ptr<request_router> router_
    = std::make_shared<request_router>(system_);
  std::shared_ptr<std::atomic<bool>> lost_
    = std::make_shared<std::atomic<bool>>(false);
  gateway_actor gate_;
  caf::actor watch_;
  std::unique_ptr<outbound_link> link_;
};

/// `how` opens it; nothing is thrown at strangers.
template <class How>
api::opened make_remote(How how) {
  try {
    auto r = std::make_unique<remote_engine>();
    if (auto ok = how(*r); !ok)
      return failure_from(ok.error());
    return std::unique_ptr<api::engine>{std::move(r)};
  } catch (const std::exception& e) {
    return api::failure{"internal", e.what(), {}, false};
  }
}

} // namespace

namespace api {

opened connect(const std::string& host, std::uint16_t port,
               std::chrono::milliseconds patience) {
  return make_remote(
    [&](remote_engine& r) { return r.open(host, port, patience); });
}

opened connect(const std::string& host, std::uint16_t port, const identity& us,
               std::chrono::milliseconds patience) {
  link_identity who{us.certificate, us.key, us.ca};
  return make_remote(
    [&](remote_engine& r) { return r.open(host, port, who, patience); });
}

} // namespace api

} // namespace troupe
