// Somebody else's program with an engine inside: it runs a tool. As root, or
// where users may make namespaces, in a real sandbox; elsewhere it says why
// not and answers itself.
#include <troupe/asio.hpp>
#include <troupe/engine.hpp>

// For those who want the whole engine: it must be complete where it is.
#include <actors/engine_host.hpp>
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

} // namespace

int main(int argc, char** argv) {
  if (auto code = api::begin(argc, argv))
    return *code;
  auto opened = api::open_embedded({});
  if (auto* why = std::get_if<api::failure>(&opened)) {
    std::cerr << "without sandboxes: " << why->text << "\n";
    api::embedded_options inline_only;
    inline_only.carrier = answer_here;
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
  api::message m;
  m.source = "def twice(n: int) -> dict:\n    return {'n': n}\n";
  m.function = "twice";
  m.arguments = R"({"n": 21})";
  auto reply = engine.submit(std::move(m)).get();
  if (auto* why = std::get_if<api::failure>(&reply)) {
    std::cerr << why->text << "\n";
    return 1;
  }
  std::cout << "tool answered " << std::get<api::answer>(reply).value << "\n";
  engine.stop();
  return 0;
}
