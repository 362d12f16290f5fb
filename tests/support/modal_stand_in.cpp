#include "tests/support/modal_stand_in.hpp"

#include "net/grpc/protobuf.hpp"

namespace troupe::test {

namespace pb = net::protobuf;
using net::grpc_code;

namespace {

constexpr std::string_view control_service = "/modal.client.ModalClient/";
constexpr std::string_view router_service
  = "/modal.task_command_router.TaskCommandRouter/";
// {"alg":"none"} . {"exp":4102444800} . nothing
const std::string token = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.x";

/// The value of a field, the last one if it repeats.
std::string_view bytes_of(std::string_view message, int number) {
  std::string_view out;
  pb::reader reader{message};
  for (pb::field f; reader.next(f);)
    if (f.number == number && f.wire_type == 2)
      out = f.bytes;
  return out;
}

std::uint64_t number_of(std::string_view message, int number) {
  std::uint64_t out = 0;
  pb::reader reader{message};
  for (pb::field f; reader.next(f);)
    if (f.number == number && f.wire_type == 0)
      out = f.value;
  return out;
}

std::vector<std::string> texts_of(std::string_view message, int number) {
  std::vector<std::string> out;
  pb::reader reader{message};
  for (pb::field f; reader.next(f);)
    if (f.number == number && f.wire_type == 2)
      out.emplace_back(f.bytes);
  return out;
}

std::map<std::string, std::string> pairs_of(std::string_view message,
                                            int number) {
  std::map<std::string, std::string> out;
  for (const auto& pair : texts_of(message, number))
    out[std::string{bytes_of(pair, 1)}] = std::string{bytes_of(pair, 2)};
  return out;
}

void say(grpc_exchange& call, const pb::writer& message) {
  call.send(message.bytes());
  call.end();
}

} // namespace

modal_stand_in::modal_stand_in()
    : server_{[this](grpc_exchange& call) { handle(call); }} {}

int modal_stand_in::created() const {
  std::lock_guard guard{mutex_};
  return created_;
}

int modal_stand_in::alive() const {
  std::lock_guard guard{mutex_};
  return static_cast<int>(boxes_.size());
}

std::vector<std::string> modal_stand_in::image_commands() const {
  std::lock_guard guard{mutex_};
  return image_commands_;
}

void modal_stand_in::fail_next(std::string method, grpc_code code,
                               std::string details) {
  std::lock_guard guard{mutex_};
  failures_[std::move(method)] = {code, std::move(details)};
}

void modal_stand_in::handle(grpc_exchange& call) {
  std::lock_guard guard{mutex_};
  auto& m = call.metadata;
  if (m[":method"] != "POST" || m["content-type"] != "application/grpc"
      || m["te"] != "trailers")
    return call.end(grpc_code::internal, "not gRPC");
  auto slash = call.path.rfind('/');
  auto method = call.path.substr(slash + 1);
  if (auto f = failures_.extract(method))
    return call.end(f.mapped().first, "as ordered", f.mapped().second);
  if (call.path.starts_with(control_service)) {
    if (m["x-modal-token-id"] != token_id
        || m["x-modal-token-secret"] != token_secret)
      return call.end(grpc_code::unauthenticated, "Token%20is%20bad");
    if (m["x-modal-client-type"].empty() || m["x-modal-client-version"].empty()
        || m["x-idempotency-key"].empty())
      return call.end(grpc_code::failed_precondition, "client too old");
    if (method != "AuthTokenGet" && m["x-modal-auth-token"] != token)
      return call.end(grpc_code::unauthenticated, "no JWT");
    return control(method, call);
  }
  if (call.path.starts_with(router_service)) {
    if (m["authorization"] != "Bearer jwt-1" || m.contains("x-modal-token-id"))
      return call.end(grpc_code::unauthenticated, "no router JWT");
    return route(method, call);
  }
  call.end(grpc_code::unimplemented);
}

void modal_stand_in::control(std::string_view method, grpc_exchange& call) {
  pb::writer out;
  if (method == "AuthTokenGet")
    return say(call, out.text(1, token));
  if (method == "AppGetOrCreate")
    return say(call, out.text(1, "ap-1"));
  if (method == "EnvironmentGetOrCreate") {
    pb::writer settings, metadata;
    settings.text(1, "2025.06");
    metadata.text(1, "main").message(2, settings);
    return say(call, out.text(1, "en-1").message(2, metadata));
  }
  if (method == "ImageGetOrCreate")
    return image(call);
  if (method == "ImageJoinStreaming") {
    pb::writer done;
    done.number(1, 1);
    return say(call, out.message(1, done).text(3, "entry-1"));
  }
  if (method == "SandboxCreateV2")
    return create(call);
  if (method == "SandboxListV2")
    return list(call);
  if (method == "SandboxTerminateV2") {
    if (boxes_.erase(std::string{bytes_of(call.message, 1)}) == 0)
      return call.end(grpc_code::not_found, "no such sandbox");
    return say(call, out);
  }
  call.end(grpc_code::unimplemented);
}

void modal_stand_in::image(grpc_exchange& call) {
  auto image = bytes_of(call.message, 2);
  if (bytes_of(call.message, 4) != "ap-1" || image.empty())
    return call.end(grpc_code::invalid_argument, "app or image");
  for (auto& command : texts_of(image, 6))
    image_commands_.push_back(std::move(command));
  pb::writer pending, out;
  pending.number(1, 0); // being built: the client has to join
  say(call,
      out.text(1, "im-" + std::to_string(image_commands_.size()))
        .message(2, pending));
}

void modal_stand_in::create(grpc_exchange& call) {
  auto definition = bytes_of(call.message, 2);
  if (bytes_of(definition, 3).empty() || number_of(definition, 7) == 0
      || bytes_of(definition, 22).empty())
    return call.end(grpc_code::invalid_argument, "image, timeout or network");
  box b;
  auto id = "sbv2-" + std::to_string(++created_);
  b.task = "ta-" + std::to_string(created_);
  b.tags = pairs_of(call.message, 4);
  b.env = pairs_of(bytes_of(bytes_of(call.message, 6), 2), 1);
  pb::writer access, out;
  access.text(1, "jwt-1").text(2, server_.url());
  out.text(1, id).text(3, b.task).message(5, access);
  boxes_[id] = std::move(b);
  say(call, out);
}

void modal_stand_in::list(grpc_exchange& call) {
  pb::writer out;
  auto first = true; // one page: a second one is asked for and empty
  pb::reader reader{call.message};
  for (pb::field f; reader.next(f);)
    if (f.number == 2)
      first = false;
  if (first)
    for (const auto& [id, b] : boxes_) {
      pb::writer box;
      box.text(1, id).real64(3, 1.5);
      for (const auto& [name, value] : b.tags) {
        pb::writer tag;
        tag.text(1, name).text(2, value);
        box.message(6, tag);
      }
      out.message(1, box);
    }
  say(call, out);
}

// -- the router
// -----------------------------------------------------------------------

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
    for (auto& [name, value] : pairs_of(call.message, 12))
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
