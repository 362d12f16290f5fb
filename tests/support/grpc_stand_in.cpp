#include "tests/support/grpc_stand_in.hpp"

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
  *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
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

bool flush(nghttp2_session* session, int fd) {
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    auto size = nghttp2_session_mem_send(session, &bytes);
    if (size <= 0)
      return size == 0;
    if (::send(fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) != size)
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

grpc_server::grpc_server(handler h) : handler_{std::move(h)} {
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

void grpc_server::break_connections() {
  std::lock_guard guard{mutex_};
  for (auto fd : sockets_)
    ::shutdown(fd, SHUT_RDWR);
}

void grpc_server::serve(int fd) {
  session_state state;
  auto* session = make_session(state);
  auto alive = flush(session, fd);
  while (alive && !stopping_) {
    pollfd p{fd, POLLIN, 0};
    ::poll(&p, 1, tick_ms);
    if (p.revents) {
      std::uint8_t piece[16'384];
      auto n = ::recv(fd, piece, sizeof piece, 0);
      alive = n > 0
        && nghttp2_session_mem_recv(session, piece, static_cast<std::size_t>(n))
          >= 0;
    }
    for (auto id : std::exchange(state.complete, {})) {
      auto call = find(&state, id);
      if (!call)
        continue;
      net::grpc_reader reader{1u << 30};
      auto whole = reader.feed(call->wire,
                               [&](std::string_view m) { call->message = m; });
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
    alive = alive && flush(session, fd);
  }
  nghttp2_session_del(session);
  ::shutdown(fd, SHUT_RDWR);
}

} // namespace troupe::test
