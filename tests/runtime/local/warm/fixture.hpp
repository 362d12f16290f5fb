#pragma once

#include "runtime/json/json.hpp"
#include "runtime/local/launch/launch_shape.hpp"
#include "runtime/local/warm/warm_launcher.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/program.hpp"
#include "tests/runtime/local/warm/direct_provisioner.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <optional>

namespace troupe::test {

/// What came back of one run.
struct seen {
  process_exit ending;
  bool started = false;
  frame::message answer;
  bool answered = false;
  std::string out;
  std::string err;

  const std::string& value() const { return answer[frame::part::body]; }
  const std::string& head() const { return answer[frame::part::head]; }
};

/// One run on its way: the engine's ends of its descriptors.
struct flight {
  prepared_run_ptr run;
  unique_fd out, err, channel;
  std::optional<process_exit> ending;
  bool started = false;
};

/// A carrier over one interpreter, driven by hand: no thread, no backend.
struct carrier_fixture {
  explicit carrier_fixture(zygote::zygote_options options = {}) {
    const auto python = find_python();
    where.interpreter = python.executable;
    where.runners = (scratch / "runners").string();
    where.runners_inside = "/troupe";
    shown_list shown{{where.runners, where.runners_inside}};
    if (!python.prefix.empty())
      shown.push_back({python.prefix, python.prefix});
    if (!script::install_runners(where.runners)
        || !zygote::install(scratch.path().string(), where))
      throw std::runtime_error{"install"};
    makers = std::make_shared<direct_provisioner>(io.get_executor(), shown);
    carrier = std::make_unique<zygote::warm_launcher>(io.get_executor(),
                                                      options, where, makers);
  }

  ~carrier_fixture() {
    carrier.reset();
    io.poll();
  }

  /// Serves until `done`; false when nothing more can happen or after a
  /// minute, which no test needs.
  template <class Done>
  bool serve_until(Done done) {
    const auto end
      = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!done()) {
      io.restart();
      if (io.run_one_until(end) == 0)
        return done();
    }
    return true;
  }

  bool wait_for_interpreter() {
    return serve_until([&] { return carrier->counts().trouble.empty(); });
  }

  static prepared_run make_run(std::string source, std::string function,
                               std::string args) {
    prepared_run run;
    run.id = run_id::make();
    run.organization = default_organization();
    run.source = std::move(source);
    run.function = std::move(function);
    run.args_json = std::move(args);
    run.env["GREETING"] = secret{"hello"};
    return run;
  }

  static std::string request(const prepared_run& run) {
    return script::build_program(run)->request.reveal();
  }

  /// Begins a run; the request is in its channel already.
  std::shared_ptr<flight> begin(prepared_run run) {
    auto f = std::make_shared<flight>();
    f->run = std::make_shared<prepared_run>(std::move(run));
    launch what;
    what.run = f->run;
    what.is_runner = true;
    what.slot_key = zygote::slot_key(what);
    int out[2], err[2], channel[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0
        || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
      throw std::runtime_error{"descriptors"};
    f->out.reset(out[0]);
    what.out.reset(out[1]);
    f->err.reset(err[0]);
    what.err.reset(err[1]);
    f->channel.reset(channel[0]);
    what.channel.reset(channel[1]);
    const auto bytes = request(*f->run);
    if (::write(channel[0], bytes.data(), bytes.size())
        != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error{"request"};
    if (!carrier->accepts(what))
      throw std::runtime_error{"the carrier does not take the run"};
    carrier->start(
      std::move(what),
      {.started = [f] { f->started = true; },
       .ended = [f](process_exit ending) { f->ending = std::move(ending); }});
    return f;
  }

  static std::string drain(int fd) {
    std::string all;
    char buffer[65536];
    for (ssize_t got;
         (got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0
         || (got < 0 && errno == ENOTSOCK
             && (got = ::read(fd, buffer, sizeof buffer)) > 0);)
      all.append(buffer, static_cast<std::size_t>(got));
    return all;
  }

  seen finish(const std::shared_ptr<flight>& f) {
    if (!serve_until([&] { return f->ending.has_value(); }))
      throw std::runtime_error{"the run does not end"};
    seen s;
    s.ending = *f->ending;
    s.started = f->started;
    s.out = drain(f->out.get());
    s.err = drain(f->err.get());
    if (auto m = frame::decode(frame::kind::answer, drain(f->channel.get()),
                               16u << 20)) {
      s.answer = std::move(*m);
      s.answered = true;
    }
    return s;
  }

  seen run(std::string source, std::string function, std::string args = "{}") {
    return finish(
      begin(make_run(std::move(source), std::move(function), std::move(args))));
  }

  tests::temporary_directory scratch;
  boost::asio::io_context io;
  zygote::warm_launcher::paths where;
  std::shared_ptr<direct_provisioner> makers;
  std::unique_ptr<zygote::warm_launcher> carrier;
};

/// No children made ahead, no answer before the end: a case counts what it
/// asked for, when it has asked.
inline zygote::zygote_options without_armed() {
  zygote::zygote_options options;
  options.preforked = 0;
  options.prefork = false;
  options.early_result = false;
  return options;
}

/// With an interpreter that is warm already.
struct ready_fixture : carrier_fixture {
  explicit ready_fixture(zygote::zygote_options options = without_armed())
      : carrier_fixture{std::move(options)} {
    BOOST_REQUIRE(wait_for_interpreter());
  }
};

} // namespace troupe::test
