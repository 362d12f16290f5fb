// What comes from a provider in pieces: Connect envelopes, lines, gRPC frames,
// output with a keyed frame in it. However it is cut, the same comes out.
#include "net/grpc/grpc_message.hpp"
#include "net/http/json_lines.hpp"
#include "net/providers/connect_stream.hpp"
#include "runtime/sandboxes/stdout_frame_splitter.hpp"

#include <cstdlib>
#include <vector>

using namespace troupe;
using namespace troupe::net;

namespace {

constexpr std::size_t limit = 1u << 12;

void demand(bool holds) {
  if (!holds)
    std::abort();
}

struct seen {
  std::vector<std::string> messages;
  bool fine = true;
};

template <class Feed>
bool in_pieces(std::string_view bytes, std::size_t piece, Feed feed) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    if (!feed(bytes.substr(0, piece)))
      return false;
  return true;
}

seen connect(std::string_view bytes, std::size_t piece) {
  seen out;
  connect_reader in{[&](std::string_view m) -> result<void> {
                      demand(m.size() <= limit);
                      out.messages.emplace_back(m);
                      return {};
                    },
                    limit};
  out.fine = in_pieces(bytes, piece,
                       [&](auto part) { return in.feed(part).has_value(); });
  out.fine = out.fine && in.finish().has_value();
  return out;
}

seen lines(std::string_view bytes, std::size_t piece) {
  seen out;
  line_reader in{[&](std::string_view line) -> result<void> {
                   demand(!line.empty());
                   demand(line.find('\n') == line.npos);
                   out.messages.emplace_back(line);
                   return {};
                 },
                 limit};
  out.fine = in_pieces(bytes, piece,
                       [&](auto part) { return in.feed(part).has_value(); });
  out.fine = out.fine && in.finish().has_value();
  return out;
}

seen grpc(std::string_view bytes, std::size_t piece) {
  seen out;
  grpc_reader in{limit};
  auto take = [&](std::string_view m) { out.messages.emplace_back(m); };
  out.fine = in_pieces(
    bytes, piece, [&](auto part) { return in.feed(part, take).has_value(); });
  out.fine = out.fine && in.at_border();
  return out;
}

/// Nothing that a tool printed is lost or made up, with or without a frame.
seen keyed(std::string_view bytes, std::size_t piece) {
  stdout_frame_splitter in{"key", limit};
  seen out;
  std::string shown;
  in_pieces(bytes, piece, [&](auto part) {
    shown += in.feed(part);
    return true;
  });
  shown += in.finish();
  out.messages = {shown, in.frame()};
  out.fine = !in.too_large();
  if (out.fine)
    demand(shown.size() + in.frame().size() == bytes.size());
  return out;
}

void same(seen (*read)(std::string_view, std::size_t), std::string_view bytes,
          bool also_broken) {
  auto whole = read(bytes, bytes.size() + 1);
  for (std::size_t piece : {1u, 3u, 64u}) {
    auto cut = read(bytes, piece);
    demand(cut.fine == whole.fine || !also_broken);
    if (whole.fine && cut.fine)
      demand(cut.messages == whole.messages);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  same(connect, bytes, true);
  same(grpc, bytes, true);
  // A bound on what waits depends on how much of it came at once.
  same(lines, bytes, false);
  same(keyed, bytes, false);
  (void)connect_error(bytes);
  return 0;
}
