#include "net/grpc/http2_session.hpp"

#include "runtime/base/error.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

namespace troupe::net {

namespace {

// As the vendors' clients have it: a reply is seldom held up by the window.
constexpr std::int32_t window_bytes = 64 << 20;
constexpr std::uint32_t max_header_bytes = 64 << 10;
// More names than any honest reply has.
constexpr std::size_t max_header_fields = 200;

nghttp2_nv pair_of(const std::pair<std::string, std::string>& h) {
  // nghttp2 copies both; the casts are its C interface's.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(h.first.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(h.second.data())),
          h.first.size(), h.second.size(), NGHTTP2_NV_FLAG_NONE};
}

} // namespace

/// nghttp2 calls these; `user` is the session of ours.
struct http2_session::callbacks {
  static http2_session& self(void* user) {
    return *static_cast<http2_session*>(user);
  }
  static std::shared_ptr<http2_stream> find(void* user, std::int32_t id) {
    auto i = self(user).streams_.find(id);
    return i == self(user).streams_.end() ? nullptr : i->second;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame,
                    const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    auto stream = find(user, frame->hd.stream_id);
    if (!stream)
      return 0;
    if (stream->head.size() >= max_header_fields)
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; // resets the stream
    stream->head[{reinterpret_cast<const char*>(name), name_size}]
      = {reinterpret_cast<const char*>(value), value_size};
    return 0;
  }

  static int data(nghttp2_session*, std::uint8_t, std::int32_t id,
                  const std::uint8_t* bytes, std::size_t size, void* user) {
    if (auto stream = find(user, id); stream && stream->data)
      stream->data({reinterpret_cast<const char*>(bytes), size});
    return 0;
  }

  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t code,
                    void* user) {
    auto node = self(user).streams_.extract(id);
    if (node.empty())
      return 0;
    auto stream = std::move(node.mapped());
    stream->reset = code;
    stream->refused = code == NGHTTP2_REFUSED_STREAM
      || (code != 0 && id > self(user).last_stream_);
    if (stream->closed)
      stream->closed(*stream);
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* f, void* user) {
    if (f->hd.type == NGHTTP2_GOAWAY) {
      self(user).goaway_ = true;
      self(user).last_stream_ = f->goaway.last_stream_id;
    }
    return 0;
  }

  static ssize_t body(nghttp2_session*, std::int32_t, std::uint8_t* into,
                      std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    auto& stream = *static_cast<http2_stream*>(source->ptr);
    auto n = std::min(size, stream.body.size() - stream.sent);
    std::memcpy(into, stream.body.data() + stream.sent, n);
    stream.sent += n;
    if (stream.sent == stream.body.size())
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }
};

http2_session::http2_session() {
  nghttp2_session_callbacks* table = nullptr;
  nghttp2_session_callbacks_new(&table);
  nghttp2_session_callbacks_set_on_header_callback(table, callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table,
                                                            callbacks::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(table,
                                                         callbacks::closed);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, callbacks::frame);
  nghttp2_session_client_new(&session_, table, this);
  nghttp2_session_callbacks_del(table);
  nghttp2_settings_entry settings[]{
    {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
    {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window_bytes},
    {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, max_header_bytes},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings,
                          std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        window_bytes);
}

http2_session::~http2_session() {
  nghttp2_session_del(session_);
}

bool http2_session::draining() const {
  return goaway_ || nghttp2_session_check_request_allowed(session_) == 0;
}

result<std::int32_t> http2_session::open(std::shared_ptr<http2_stream> stream) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(stream->request.size());
  for (const auto& h : stream->request)
    fields.push_back(pair_of(h));
  nghttp2_data_provider body{{.ptr = stream.get()}, callbacks::body};
  auto id
    = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                             stream->body.empty() ? nullptr : &body, nullptr);
  if (id < 0)
    return fail(ec::unavailable,
                std::string{"HTTP/2: "} + nghttp2_strerror(id));
  streams_.emplace(id, std::move(stream));
  return id;
}

void http2_session::cancel(std::int32_t id) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void http2_session::ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
}

result<void> http2_session::receive(std::string_view bytes) {
  auto taken = nghttp2_session_mem_recv(
    session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
    bytes.size());
  if (taken < 0)
    return fail(ec::unavailable,
                std::string{"HTTP/2: "}
                  + nghttp2_strerror(static_cast<int>(taken)));
  return {};
}

std::string http2_session::pending() {
  std::string out;
  for (;;) {
    const std::uint8_t* bytes = nullptr;
    auto size = nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0)
      return out;
    out.append(reinterpret_cast<const char*>(bytes),
               static_cast<std::size_t>(size));
  }
}

void http2_session::fail_all() {
  auto gone = std::exchange(streams_, {});
  for (auto& [id, stream] : gone) {
    stream->reset = NGHTTP2_INTERNAL_ERROR;
    stream->refused = id > last_stream_;
    if (stream->closed)
      stream->closed(*stream);
  }
}

} // namespace troupe::net
