// Every reader of frames: what comes in pieces is judged as what comes whole,
// and what is accepted can be written again.
#include "runtime/base/base64.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/legacy_frame.hpp"
#include "runtime/runner/stdout_frame.hpp"

#include <cstdlib>

using namespace troupe::frame;

namespace {

constexpr std::size_t limit = 1u << 16;

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void in_pieces(std::string_view bytes, std::size_t piece) {
  auto whole = decode(kind::answer, bytes, limit);
  reader in{kind::answer, limit};
  for (auto rest = bytes; !rest.empty();
       rest.remove_prefix(std::min(piece, rest.size())))
    in.feed(rest.substr(0, piece));
  demand((in.now() == reader::state::complete) == whole.has_value());
  demand(in.wanted() <= limit);
  if (!whole.has_value())
    return;
  auto again = encode(*whole).value();
  demand(bytes.substr(0, again.size()) == again);
  demand(in.take().parts == whole->parts);
}

void without_checksum(std::string_view bytes) {
  // The checksum keeps a fuzzer out; make it right and go on.
  message m;
  m.what = kind::answer;
  for (auto& part : m.parts) {
    auto n = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
    part = bytes.substr(0, n);
    bytes.remove_prefix(std::min<std::size_t>(n, bytes.size()));
  }
  auto line = write_keyed_frame(m, "key").value();
  auto read = read_keyed_frame(std::string{bytes} + line, "key", limit);
  if (bytes.find("=troupe:key:") == std::string_view::npos)
    demand(read.value().frame->parts == m.parts);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  in_pieces(bytes, 1);
  in_pieces(bytes, 7);
  without_checksum(bytes);

  if (auto keyed = read_keyed_frame(bytes, "key", limit); keyed.has_value())
    demand(keyed->text.size() <= bytes.size());
  if (auto legacy = read_legacy_frame(bytes, limit); legacy.has_value())
    demand(legacy->text.size() + legacy->envelope.size() <= bytes.size());
  (void)read_legacy_text(bytes, limit);
  demand(from_base64(to_base64(bytes)).value() == bytes);
  if (auto plain = from_base64(bytes); plain.has_value())
    demand(to_base64(*plain) == bytes);
  return 0;
}
