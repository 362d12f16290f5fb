// Records that are not what was written: read as what they are, or refused;
// what was read is written as it was.
#include "storage/database/cursor.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/database/manifest.hpp"
#include "storage/database/write_ahead_log.hpp"
#include "storage/records/record_format.hpp"
#include "storage/records/record_kinds.hpp"
#include "storage/records/run_store.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

// Decoded twice it is the same: nothing is lost on the way through our words.
template <class Kind>
void round_trip(std::string_view bytes) {
  auto first = Kind::decode(bytes);
  if (!first)
    return;
  auto again = Kind::decode(Kind::encode(*first));
  if (!again || Kind::key(*again) != Kind::key(*first)
      || Kind::encode(*again) != Kind::encode(*first))
    std::abort();
}

void decode_all(std::string_view bytes) {
  round_trip<tool_traits>(bytes);
  round_trip<config_traits>(bytes);
  round_trip<variable_traits>(bytes);
  round_trip<agent_variable_traits>(bytes);
  round_trip<key_traits>(bytes);
  if (auto r = decode_run(bytes))
    if (!decode_run(encode_run(*r)))
      std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view input{reinterpret_cast<const char*>(data), size};
  decode_all(input);
  // The same as the JSON of a good frame, so that the fuzzer need not guess it.
  decode_all(key_codec::encode({std::string_view{"\1", 1}, input, "sealed"}));
  if (auto parts = key_codec::split(input)) {
    std::string spelled;
    for (auto part : *parts)
      spelled += key_codec::encode({part});
    if (spelled != input)
      std::abort();
  }
  if (auto list = parse_manifest(input))
    if (to_text(*list) != input)
      std::abort();
  if (auto key = cursor::begin("prefix", input))
    if (!key->starts_with("prefix"))
      std::abort();
  static_cast<void>(examine_log(input));
  return 0;
}
