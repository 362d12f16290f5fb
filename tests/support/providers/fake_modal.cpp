#include "tests/support/providers/fake_modal.hpp"

#include "tests/support/providers/protobuf_fields.hpp"

namespace troupe::test {

namespace pb = net::protobuf;
using net::grpc_code;

namespace {

constexpr std::string_view control_service = "/modal.client.ModalClient/";
constexpr std::string_view router_service
  = "/modal.task_command_router.TaskCommandRouter/";
// {"alg":"none"} . {"exp":4102444800} . nothing
const std::string token = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.x";

} // namespace

modal_stand_in::modal_stand_in(const tls_faces* faces)
    : server_{[this](grpc_exchange& call) { handle(call); }, faces} {}

net::modal_options modal_stand_in::options() const {
  net::modal_options o;
  o.token_id = secret{token_id};
  o.token_secret = secret{token_secret};
  o.server_url = url();
  o.first_delay = std::chrono::milliseconds{1};
  o.task_pause = std::chrono::milliseconds{1};
  return o;
}

int modal_stand_in::created() const {
  std::lock_guard guard{mutex_};
  return created_;
}

int modal_stand_in::alive() const {
  std::lock_guard guard{mutex_};
  return static_cast<int>(boxes_.size());
}

void modal_stand_in::serve_older_only(grpc_code how) {
  std::lock_guard guard{mutex_};
  newer_ = how;
}

void modal_stand_in::end_builds_as(int result) {
  std::lock_guard guard{mutex_};
  build_result_ = result;
}

void modal_stand_in::print_while_building(std::string log) {
  std::lock_guard guard{mutex_};
  build_log_ = std::move(log);
}

void modal_stand_in::stop_app() {
  std::lock_guard guard{mutex_};
  ++app_;
}

void modal_stand_in::delete_images() {
  std::lock_guard guard{mutex_};
  images_.clear();
}

/// Otherwise the call is ended. No image where none is named.
bool modal_stand_in::knows_app_and_image(grpc_exchange& call,
                                         std::string_view app,
                                         std::string_view image) const {
  auto known = app == app_id()
    && (image.empty() || images_.contains(std::string{image}));
  if (!known)
    call.end(grpc_code::not_found, "no such app or image");
  return known;
}

void modal_stand_in::name_router(std::string url) {
  std::lock_guard guard{mutex_};
  other_router_ = std::move(url);
}

void modal_stand_in::claim_https() {
  std::lock_guard guard{mutex_};
  https_ = true;
}

void modal_stand_in::end_router_tokens() {
  std::lock_guard guard{mutex_};
  ++router_tokens_;
}

void modal_stand_in::end_router_tokens_at(std::string method) {
  std::lock_guard guard{mutex_};
  ends_tokens_ = std::move(method);
}

std::string modal_stand_in::router_jwt() const {
  return "jwt-" + std::to_string(router_tokens_);
}

std::string modal_stand_in::router_url() const {
  auto url = other_router_.empty() ? server_.url() : other_router_;
  return https_ ? "https" + url.substr(url.find(':')) : url;
}

std::set<std::string>
modal_stand_in::fields_of(const std::string& method) const {
  std::lock_guard guard{mutex_};
  auto found = fields_.find(method);
  return found == fields_.end() ? std::set<std::string>{} : found->second;
}

std::set<std::string>
modal_stand_in::metadata_of(const std::string& method) const {
  std::lock_guard guard{mutex_};
  auto found = metadata_.find(method);
  return found == metadata_.end() ? std::set<std::string>{} : found->second;
}

namespace {

/// Which fields are messages again: by their bytes nobody could tell them from
/// texts. By method, else by the message that a path leads to.
bool is_message(const std::string& method, const std::string& path) {
  static const std::map<std::string, std::set<std::string>> known{
    {"ImageGetOrCreate", {"2", "2.5", "2.7", "2.17"}},
    {"SandboxCreate",
     {"2", "2.5", "2.5.4", "2.15", "2.17", "2.20", "2.20.1", "2.22", "2.38",
      "4"}},
    {"SandboxCreateV2",
     {"2", "2.5", "2.5.4", "2.15", "2.17", "2.20", "2.20.1", "2.22", "2.38",
      "4", "6", "6.2", "6.2.1"}},
    {"SecretGetOrCreate", {"5"}},
    {"SandboxList", {"5"}},
    {"SandboxListV2", {"5"}},
    {"TaskExecStart", {"9", "13", "13.2", "13.2.1"}}};
  auto of = known.find(method);
  return of != known.end() && of->second.contains(path);
}

void collect(const std::string& method, const std::string& above,
             std::string_view message, std::set<std::string>& into) {
  pb::reader reader{message};
  for (pb::field f; reader.next(f);) {
    auto path = above + std::to_string(f.number);
    into.insert(path);
    if (f.wire_type == 2 && is_message(method, path))
      collect(method, path + ".", f.bytes, into);
  }
}

} // namespace

void modal_stand_in::remember(const std::string& method,
                              const grpc_exchange& call) {
  calls_.push_back(method);
  auto parent = call.metadata.find("traceparent");
  traceparents_.push_back(parent == call.metadata.end() ? "" : parent->second);
  collect(method, {}, call.message, fields_[method]);
  for (const auto& [name, value] : call.metadata)
    metadata_[method].insert(name);
}

std::vector<std::string> modal_stand_in::calls() const {
  std::lock_guard guard{mutex_};
  return calls_;
}

std::vector<std::string> modal_stand_in::traceparents() const {
  std::lock_guard guard{mutex_};
  return traceparents_;
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
  remember(method, call);
  if (auto f = failures_.extract(method))
    return call.end(f.mapped().first, "as ordered", f.mapped().second);
  if (call.path.starts_with(control_service)) {
    if (m["x-modal-token-id"] != token_id
        || m["x-modal-token-secret"] != token_secret)
      return call.end(grpc_code::unauthenticated, "Token%20is%20bad");
    auto keyed = method == "ImageJoinStreaming" // a stream is not repeated
      || !m["x-idempotency-key"].empty();
    if (m["x-modal-client-type"].empty() || m["x-modal-client-version"].empty()
        || !keyed)
      return call.end(grpc_code::failed_precondition, "client too old");
    if (method != "AuthTokenGet" && m["x-modal-auth-token"] != token)
      return call.end(grpc_code::unauthenticated, "no JWT");
    return control(method, call);
  }
  if (call.path.starts_with(router_service)) {
    if (method == ends_tokens_) {
      ends_tokens_.clear();
      ++router_tokens_;
    }
    if (m["authorization"] != "Bearer " + router_jwt()
        || m.contains("x-modal-token-id"))
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
    return say(call, out.text(1, app_id()));
  if (method == "EnvironmentGetOrCreate") {
    pb::writer settings, metadata;
    settings.text(1, "2025.06");
    metadata.text(1, "main").message(2, settings);
    return say(call, out.text(1, "en-1").message(2, metadata));
  }
  if (method == "ImageGetOrCreate")
    return image(call);
  if (method == "ImageJoinStreaming") {
    pb::writer done, log, line;
    if (!build_log_.empty()) // lines come in pieces
      for (auto part : {build_log_.substr(0, build_log_.size() / 2),
                        build_log_.substr(build_log_.size() / 2)}) {
        pb::writer piece, one;
        piece.text(1, part);
        call.send(one.message(2, piece).text(3, "entry-0").bytes());
      }
    done.number(1, static_cast<std::uint64_t>(build_result_));
    call.send(out.message(1, done).text(3, "entry-1").bytes());
    log.text(1, "bye"); // a line of the log may still come after that
    return say(call, line.message(2, log).text(3, "entry-2"));
  }
  auto older = !method.ends_with("V2");
  if (method.ends_with("V2") && newer_ != grpc_code::ok)
    return call.end(newer_, "not here");
  if (method == "SandboxCreateV2")
    return create(call);
  if (method == "SecretGetOrCreate") {
    auto id = "st-" + std::to_string(secrets_.size() + 1);
    if (number_of(call.message, 4) != 5)
      return call.end(grpc_code::invalid_argument, "not ephemeral");
    secrets_[id] = pairs_of(call.message, 5);
    return say(call, out.text(1, id));
  }
  if (method == "SandboxCreate")
    return create_older(call);
  if (method == "SandboxGetTaskId")
    return task(call);
  if (method == "TaskGetCommandRouterAccess"
      || method == "SandboxGetCommandRouterAccess")
    return access(method, call);
  if (method == "SandboxWait" || method == "SandboxWaitV2") {
    auto b = boxes_.find(std::string{bytes_of(call.message, 1)});
    if (b == boxes_.end() || b->second.older != older)
      return call.end(grpc_code::not_found, "no such sandbox");
    return say(call, out); // still running
  }
  if (method == "SandboxListV2" || method == "SandboxList")
    return list(call, older);
  if (method == "SandboxTerminateV2" || method == "SandboxTerminate") {
    auto b = boxes_.find(std::string{bytes_of(call.message, 1)});
    if (b != boxes_.end() && b->second.older != older)
      return call.end(grpc_code::not_found, "of the other kind");
    if (boxes_.erase(std::string{bytes_of(call.message, 1)}) == 0)
      return call.end(grpc_code::not_found, "no such sandbox");
    return say(call, out);
  }
  call.end(grpc_code::unimplemented);
}

void modal_stand_in::image(grpc_exchange& call) {
  auto image = bytes_of(call.message, 2);
  if (image.empty())
    return call.end(grpc_code::invalid_argument, "no image");
  auto base = bytes_of(bytes_of(image, 5), 1);
  if (!knows_app_and_image(call, bytes_of(call.message, 4), base))
    return;
  for (auto& command : texts_of(image, 6))
    image_commands_.push_back(std::move(command));
  pb::writer pending, out;
  pending.number(1, 0); // being built: the client has to join
  auto id = "im-" + std::to_string(image_commands_.size());
  images_.insert(id);
  say(call, out.text(1, id).message(2, pending));
}

void modal_stand_in::create(grpc_exchange& call) {
  auto definition = bytes_of(call.message, 2);
  if (bytes_of(definition, 3).empty() || number_of(definition, 7) == 0
      || bytes_of(definition, 22).empty())
    return call.end(grpc_code::invalid_argument, "image, timeout or network");
  if (!knows_app_and_image(call, bytes_of(call.message, 1),
                           bytes_of(definition, 3)))
    return;
  box b;
  auto id = "sbv2-" + std::to_string(++created_);
  b.task = "ta-" + std::to_string(created_);
  b.tags = pairs_of(call.message, 4);
  b.env = pairs_of(bytes_of(bytes_of(call.message, 6), 2), 1);
  pb::writer access, out;
  access.text(1, router_jwt()).text(2, router_url());
  out.text(1, id).text(3, b.task).message(5, access);
  boxes_[id] = std::move(b);
  say(call, out);
}

void modal_stand_in::create_older(grpc_exchange& call) {
  auto definition = bytes_of(call.message, 2);
  if (bytes_of(definition, 3).empty() || number_of(definition, 7) == 0
      || bytes_of(definition, 22).empty() || bytes_of(call.message, 6) != "")
    return call.end(grpc_code::invalid_argument, "image, timeout or network");
  if (!knows_app_and_image(call, bytes_of(call.message, 1),
                           bytes_of(definition, 3)))
    return;
  box b;
  auto number = std::to_string(++created_);
  auto id = "sb-" + std::string(22 - number.size(), '0') + number;
  b.task = "ta-" + number;
  b.older = true;
  b.tags = pairs_of(call.message, 4);
  for (const auto& secret : texts_of(definition, 4))
    b.env.insert(secrets_[secret].begin(), secrets_[secret].end());
  boxes_[id] = std::move(b);
  pb::writer out;
  say(call, out.text(1, id));
}

void modal_stand_in::task(grpc_exchange& call) {
  auto b = boxes_.find(std::string{bytes_of(call.message, 1)});
  if (b == boxes_.end() || !b->second.older)
    return call.end(grpc_code::not_found, "no such sandbox");
  pb::writer out;
  if (++b->second.looks > 1) // it takes its time
    out.text(1, b->second.task);
  say(call, out);
}

void modal_stand_in::access(std::string_view method, grpc_exchange& call) {
  auto wanted = bytes_of(call.message, 1);
  auto by_task = method.starts_with("Task");
  for (const auto& [id, b] : boxes_)
    if (b.older == by_task && (by_task ? b.task == wanted : id == wanted)) {
      pb::writer out;
      return say(call, out.text(1, router_jwt()).text(2, router_url()));
    }
  call.end(grpc_code::not_found, "no such task");
}

void modal_stand_in::list(grpc_exchange& call, bool older) {
  if (!knows_app_and_image(call, bytes_of(call.message, 1), {}))
    return;
  pb::writer out;
  auto first = true; // one page: a second one is asked for and empty
  pb::reader reader{call.message};
  for (pb::field f; reader.next(f);)
    if (f.number == 2)
      first = false;
  if (first)
    for (const auto& [id, b] : boxes_) {
      if (b.older != older)
        continue;
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

} // namespace troupe::test
