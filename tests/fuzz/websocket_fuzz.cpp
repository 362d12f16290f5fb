// Frames of a WebSocket client. In one piece and byte by byte the same messages
// come of them; none is larger than it may be, and texts are UTF-8.
#include "net/http/websocket.hpp"
#include "runtime/json/json.hpp"

#include <cstdlib>
#include <vector>

namespace ws = troupe::net::websocket;

namespace {

constexpr std::size_t longest = 4'096;

void demand(bool holds) {
  if (!holds)
    std::abort();
}

struct read_messages {
  std::vector<ws::message> all;
  bool broken = false;
};

read_messages read_in_pieces(std::string_view bytes, std::size_t size) {
  read_messages out;
  ws::reader reader{longest};
  while (!bytes.empty() && !out.broken) {
    const auto piece = bytes.substr(0, size);
    bytes.remove_prefix(piece.size());
    reader.append(piece);
    for (;;) {
      ws::message next;
      const auto got = reader.next(next);
      out.broken = got == ws::reader::progress::broken;
      if (got != ws::reader::progress::whole)
        break;
      out.all.push_back(std::move(next));
    }
  }
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const auto whole = read_in_pieces(bytes, bytes.size());
  const auto split = read_in_pieces(bytes, 1);
  demand(whole.broken == split.broken);
  demand(whole.all.size() == split.all.size());
  for (std::size_t i = 0; i < whole.all.size(); ++i) {
    const auto& m = whole.all[i];
    demand(m.what == split.all[i].what && m.data == split.all[i].data);
    demand(m.what != ws::kind::continuation && m.data.size() <= longest);
    demand(m.what != ws::kind::text || troupe::json::is_utf8(m.data));
  }
  return 0;
}
