#include "tests/support/providers/fake_modal.hpp"
#include "tests/support/providers/protobuf_fields.hpp"

/// The second half of Modal's stand-in: what is served inside a sandbox.
namespace troupe::test {

namespace pb = net::protobuf;
using net::grpc_code;

// -- the router --------------------------------------------------------------

std::shared_ptr<background_program>
modal_stand_in::program_of(const grpc_exchange& call) {
  auto task = bytes_of(call.message, 1);
  for (auto& [id, b] : boxes_)
    if (b.task == task)
      if (auto p = b.programs.find(std::string{bytes_of(call.message, 2)});
          p != b.programs.end())
        return p->second;
  return nullptr;
}

void modal_stand_in::start(grpc_exchange& call) {
  auto task = bytes_of(call.message, 1);
  for (auto& [id, b] : boxes_) {
    if (b.task != task)
      continue;
    program_run what;
    what.argv = texts_of(call.message, 3);
    what.env = b.env;
    for (auto& [name, value] :
         pairs_of(bytes_of(bytes_of(call.message, 13), 2), 1))
      what.env[name] = value;
    // Begun once its input is complete: ours all read it first.
    b.waiting_for_input[std::string{bytes_of(call.message, 2)}] = what;
    return say(call, {});
  }
  call.end(grpc_code::not_found, "no such task");
}

void modal_stand_in::input(grpc_exchange& call) {
  auto task = bytes_of(call.message, 1);
  std::string exec{bytes_of(call.message, 2)};
  for (auto& [id, b] : boxes_) {
    auto w = b.waiting_for_input.find(exec);
    if (b.task != task || w == b.waiting_for_input.end())
      continue;
    auto& all = b.inputs[exec];
    if (number_of(call.message, 3) != all.size())
      return call.end(grpc_code::invalid_argument, "offset");
    all += bytes_of(call.message, 4);
    if (number_of(call.message, 5) != 0) {
      w->second.input = all;
      b.programs[exec]
        = std::make_shared<background_program>(std::move(w->second));
      b.waiting_for_input.erase(w);
    }
    return say(call, {});
  }
  call.end(grpc_code::not_found, "no such process");
}

void modal_stand_in::route(std::string_view method, grpc_exchange& call) {
  if (method == "TaskExecStart")
    return start(call);
  if (method == "TaskExecStdinWrite")
    return input(call);
  if (method == "TaskExecWait") {
    call.look = [this](grpc_exchange& c) {
      std::lock_guard guard{mutex_};
      auto program = program_of(c);
      if (!program)
        return;
      auto seen = program->look();
      if (!seen.code)
        return;
      pb::writer out;
      if (*seen.code >= 0)
        out.present_number(1, static_cast<std::uint64_t>(*seen.code));
      else
        out.present_number(2, static_cast<std::uint64_t>(-*seen.code));
      say(c, out);
    };
    return;
  }
  if (method == "TaskExecStdioRead") {
    auto is_err = number_of(call.message, 4) == 1;
    auto shown = std::make_shared<std::size_t>(number_of(call.message, 3));
    call.look = [this, is_err, shown](grpc_exchange& c) {
      std::lock_guard guard{mutex_};
      auto program = program_of(c);
      if (!program)
        return;
      auto seen = program->look();
      const auto& text = is_err ? seen.err : seen.out;
      if (text.size() > *shown) {
        pb::writer out;
        c.send(out.text(1, text.substr(*shown)).bytes());
        *shown = text.size();
      }
      if (seen.code)
        c.end();
    };
    return;
  }
  call.end(grpc_code::unimplemented);
}

} // namespace troupe::test
