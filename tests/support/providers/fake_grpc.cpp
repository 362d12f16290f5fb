#include "tests/support/providers/fake_grpc.hpp"

#include "tests/support/http/tls_faces.hpp"
#include "tests/support/providers/grpc_wire.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace troupe::test {

namespace {

// How often open calls are looked at.
constexpr int tick_ms = 2;

struct session_state {
  std::map<std::int32_t, std::shared_ptr<grpc_exchange>> calls;
  std::vector<std::int32_t> complete;
};

std::shared_ptr<grpc_exchange> find(void* user, std::int32_t id) {
  auto& calls = static_cast<session_state*>(user)->calls;
  auto i = calls.find(id);
  return i == calls.end() ? nullptr : i->second;
}

int on_header(nghttp2_session*, const nghttp2_frame* frame,
              const std::uint8_t* name, std::size_t name_size,
              const std::uint8_t* value, std::size_t value_size, std::uint8_t,
              void* user) {
  auto& call = static_cast<session_state*>(user)->calls[frame->hd.stream_id];
  if (!call)
    call = std::make_shared<grpc_exchange>();
  std::string key{reinterpret_cast<const char*>(name), name_size};
  std::string text{reinterpret_cast<const char*>(value), value_size};
  if (key == ":path")
    call->path = text;
  call->metadata[key] = std::move(text);
  return 0;
}

int on_data(nghttp2_session*, std::uint8_t, std::int32_t id,
            const std::uint8_t* bytes, std::size_t size, void* user) {
  if (auto call = find(user, id))
    call->wire.append(reinterpret_cast<const char*>(bytes), size);
  return 0;
}

int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM
      && (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS))
    static_cast<session_state*>(user)->complete.push_back(frame->hd.stream_id);
  return 0;
}

int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
  static_cast<session_state*>(user)->calls.erase(id);
  return 0;
}

nghttp2_nv pair_of(const char* name, const std::string& value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name)),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          std::strlen(name), value.size(), NGHTTP2_NV_FLAG_NONE};
}

ssize_t body(nghttp2_session* session, std::int32_t id, std::uint8_t* into,
             std::size_t size, std::uint32_t* flags,
             nghttp2_data_source* source, void*) {
  auto& call = *static_cast<grpc_exchange*>(source->ptr);
  auto n = std::min(size, call.out.size() - call.sent);
  std::memcpy(into, call.out.data() + call.sent, n);
  call.sent += n;
  if (call.sent < call.out.size())
    return static_cast<ssize_t>(n);
  if (!call.ended)
    return n > 0 ? static_cast<ssize_t>(n) : ssize_t{NGHTTP2_ERR_DEFERRED};
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (!call.has_trailers)
    return static_cast<ssize_t>(n);
  *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  auto code = std::to_string(static_cast<int>(call.code));
  std::vector<nghttp2_nv> trailers{pair_of("grpc-status", code),
                                   pair_of("grpc-message", call.text)};
  if (!call.details_bin.empty())
    trailers.push_back(pair_of("grpc-status-details-bin", call.details_bin));
  nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
  return static_cast<ssize_t>(n);
}

/// Begins the answer, or goes on with one that had nothing to send.
void answer(nghttp2_session* session, std::int32_t id, grpc_exchange& call) {
  if (call.answered) {
    nghttp2_session_resume_data(session, id);
    return;
  }
  call.answered = true;
  std::string status = "200", type = "application/grpc";
  nghttp2_nv head[]{pair_of(":status", status), pair_of("content-type", type)};
  nghttp2_data_provider provider{{.ptr = &call}, body};
  nghttp2_submit_response(session, id, head, std::size(head), &provider);
}

/// As of a server that has never heard of gRPC.
void answer_plainly(nghttp2_session* session, std::int32_t id,
                    grpc_exchange& call, std::string status) {
  call.answered = call.ended = true;
  call.has_trailers = false;
  call.out = "<html>Please log in</html>";
  std::string type = "text/html", place = "http://169.254.169.254/";
  nghttp2_nv head[]{pair_of(":status", status), pair_of("content-type", type),
                    pair_of("location", place)};
  nghttp2_data_provider provider{{.ptr = &call}, body};
  nghttp2_submit_response(session, id, head, std::size(head), &provider);
}

/// Whether the call is to be answered as if nothing had happened.
bool play(grpc_fault what, nghttp2_session* session, std::int32_t id,
          grpc_exchange& call) {
  std::string status = "200", type = "application/grpc", code = "14";
  nghttp2_nv head[]{pair_of(":status", status), pair_of("content-type", type),
                    pair_of("grpc-status", code)};
  switch (what) {
  case grpc_fault::silent:
    return false;
  case grpc_fault::garbage:
    call.send("\xff\xff\xff\xff");
    call.end();
    break;
  case grpc_fault::compressed:
    call.out = std::string{"\1\0\0\0\1x", 6};
    call.end();
    break;
  case grpc_fault::too_large:
    call.out = std::string{"\0\x0c\x80\0\0", 5};
    break;
  case grpc_fault::cut_off:
    call.out = std::string{"\0\0\0\0\x09half", 9};
    call.end();
    break;
  case grpc_fault::web_page:
    answer_plainly(session, id, call, "200");
    return false;
  case grpc_fault::redirect:
    answer_plainly(session, id, call, "302");
    return false;
  case grpc_fault::bad_gateway:
    answer_plainly(session, id, call, "502");
    return false;
  case grpc_fault::trailers_only:
    nghttp2_submit_response(session, id, head, std::size(head), nullptr);
    return false;
  case grpc_fault::refused:
  case grpc_fault::reset:
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id,
                              what == grpc_fault::refused
                                ? NGHTTP2_REFUSED_STREAM
                                : NGHTTP2_INTERNAL_ERROR);
    return false;
  case grpc_fault::going_away:
    nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, id, 0, nullptr, 0);
    return true;
  case grpc_fault::gone_away:
    nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, id - 2, 0, nullptr, 0);
    return false;
  }
  answer(session, id, call);
  return false;
}

bool flush(nghttp2_session* session, grpc_wire& wire) {
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    auto size = nghttp2_session_mem_send(session, &bytes);
    if (size <= 0)
      return size == 0;
    if (!wire.send({bytes, static_cast<std::size_t>(size)}))
      return false;
  }
}

nghttp2_session* make_session(session_state& state) {
  nghttp2_session_callbacks* table = nullptr;
  nghttp2_session_callbacks_new(&table);
  nghttp2_session_callbacks_set_on_header_callback(table, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(table, on_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, table, &state);
  nghttp2_session_callbacks_del(table);
  nghttp2_settings_entry bounds[]{
    {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, grpc_server::max_calls}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, bounds, 1);
  return session;
}

} // namespace

grpc_server::grpc_server(handler h, const tls_faces* faces)
    : handler_{std::move(h)}, faces_{faces}, tls_{faces ? faces->context(
                                                    tls_face::right)
                                                        : nullptr} {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(listener_, reinterpret_cast<sockaddr*>(&place), sizeof place);
  ::listen(listener_, 64);
  socklen_t size = sizeof place;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &size);
  port_ = ntohs(place.sin_port);
  accepting_ = std::thread{[this] {
    for (;;) {
      auto fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0)
        return;
      std::lock_guard guard{mutex_};
      sockets_.push_back(fd);
      workers_.emplace_back([this, fd] { serve(fd); });
    }
  }};
}

grpc_server::~grpc_server() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  break_connections();
  for (auto& w : workers_)
    w.join();
  for (auto fd : sockets_)
    ::close(fd);
  ::close(listener_);
}

std::size_t grpc_server::connections() const {
  std::lock_guard guard{mutex_};
  return sockets_.size();
}

void grpc_server::add_fault(std::string method, grpc_fault what) {
  std::lock_guard guard{mutex_};
  faults_[std::move(method)] = what;
}

std::optional<grpc_fault> grpc_server::take_fault(const std::string& path) {
  std::lock_guard guard{mutex_};
  auto found = faults_.extract(path.substr(path.rfind('/') + 1));
  return found ? std::optional{found.mapped()} : std::nullopt;
}

void grpc_server::break_connections() {
  std::lock_guard guard{mutex_};
  for (auto fd : sockets_)
    ::shutdown(fd, SHUT_RDWR);
}

void grpc_server::show(tls_face which) {
  {
    std::lock_guard guard{mutex_};
    tls_ = faces_->context(which);
    manner_ = tls_faces::manner(which);
  }
  break_connections();
}

std::unique_ptr<grpc_wire> grpc_server::let_in(int fd) {
  std::unique_lock guard{mutex_};
  auto tls = tls_;
  auto how = manner_;
  guard.unlock();
  return tls ? make_tls_wire(fd, std::move(tls), how) : make_plain_wire(fd);
}

void grpc_server::serve(int fd) {
  if (auto wire = let_in(fd))
    converse(fd, *wire);
  ::shutdown(fd, SHUT_RDWR);
}

void grpc_server::converse(int fd, grpc_wire& wire) {
  session_state state;
  auto* session = make_session(state);
  auto alive = flush(session, wire);
  auto leaving = false;
  while (alive && !stopping_) {
    pollfd p{fd, POLLIN, 0};
    ::poll(&p, 1, tick_ms);
    if (p.revents) {
      std::uint8_t piece[16'384]; // as much as one record of TLS has at most
      auto n = wire.receive(piece);
      heard_ += n;
      alive = n > 0 && nghttp2_session_mem_recv(session, piece, n) >= 0;
    }
    for (auto id : std::exchange(state.complete, {})) {
      auto call = find(&state, id);
      if (!call)
        continue;
      net::grpc_reader reader{1u << 30};
      auto whole = reader.feed(call->wire,
                               [&](std::string_view m) { call->message = m; });
      auto fault = take_fault(call->path);
      if (fault && !play(*fault, session, id, *call)) {
        leaving = leaving || *fault == grpc_fault::gone_away;
        continue;
      }
      if (!whole || !reader.at_border())
        call->end(net::grpc_code::internal, "broken request");
      else
        handler_(*call);
      answer(session, id, *call);
    }
    for (auto& [id, call] : state.calls)
      if (call->answered && !call->ended && call->look) {
        call->look(*call);
        if (call->ended || call->sent < call->out.size())
          answer(session, id, *call);
      }
    alive = alive && flush(session, wire) && !leaving;
  }
  nghttp2_session_del(session);
}

} // namespace troupe::test
