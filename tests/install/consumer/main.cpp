// Somebody else's program with an engine inside: it runs a tool, with a
// completion token and by an actor's message. As root, or where users may make
// namespaces, in a real sandbox; elsewhere it says why not and answers itself.
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <troupe/actors.hpp>
#include <troupe/asio.hpp>
#include <troupe/engine.hpp>

// For those who want the whole engine: it must be complete where it is.
#include <actors/engine/engine_host.hpp>
#include <sys/prctl.h>

#include <iostream>

namespace api = troupe::api;

namespace {

void answer_here(const api::message& m, std::function<void(api::answer)> done) {
  api::answer a;
  a.succeeded = true;
  a.reason = "exited";
  a.value = m.arguments;
  done(std::move(a));
}

api::message twice_of_21() {
  api::message m;
  m.source = "def twice(n: int) -> dict:\n    return {'n': n}\n";
  m.function = "twice";
  m.arguments = R"({"n": 21})";
  return m;
}

int tell(const char* who, const api::reply& reply) {
  if (auto* why = std::get_if<api::failure>(&reply)) {
    std::cerr << why->text << "\n";
    return 1;
  }
  std::cout << who << " answered " << std::get<api::answer>(reply).value
            << "\n";
  return 0;
}

api::reply ask_with_a_token(api::engine& engine) {
  boost::asio::io_context io;
  auto reply = api::async_submit(engine, io.get_executor(), twice_of_21(),
                                 boost::asio::use_future);
  io.run();
  return reply.get();
}

api::reply ask_as_an_actor(api::engine& engine) {
  auto handle = api::actors_of(engine);
  auto what = api::execution_from(twice_of_21());
  api::reply reply;
  caf::scoped_actor self{*handle.system};
  self
    ->request(handle.gateway, std::chrono::minutes{1}, troupe::run_v,
              what.value())
    .receive([&](troupe::run_answer& a) { reply = api::reply_from(a); },
             [&](const caf::error& e) { reply = api::reply_from(e); });
  return reply;
}

} // namespace

int main(int argc, char** argv) {
  if (auto code = api::begin(argc, argv))
    return *code;
  auto opened = api::open_embedded({});
  if (auto* why = std::get_if<api::failure>(&opened)) {
    std::cerr << "without sandboxes: " << why->text << "\n";
    api::embedded_options inline_only;
    inline_only.backend = answer_here;
    opened = api::open_embedded(std::move(inline_only));
  }
  if (auto* why = std::get_if<api::failure>(&opened)) {
    std::cerr << why->text << "\n";
    return 1;
  }
  if (::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) {
    std::cerr << "a core dump would hold the secrets of every run\n";
    return 1;
  }
  auto& engine = *std::get<0>(opened);
  auto code = tell("tool", engine.submit(twice_of_21()).get())
    + tell("token", ask_with_a_token(engine))
    + tell("actor", ask_as_an_actor(engine));
  engine.stop();
  return code;
}
