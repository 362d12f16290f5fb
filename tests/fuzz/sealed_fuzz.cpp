// Sealed values that somebody else wrote: none opens but the true one.
#include "storage/sealing/aead.hpp"
#include "storage/sealing/letta_value.hpp"
#include "storage/sealing/sealed_value.hpp"

#include <cstdlib>

using namespace troupe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const auto key = key_bytes::random(system_random());
  static const aead cipher{*key, system_random()};
  static const sealed_place place{organization_id{"org-a"},
                                  sealed_kind::config_variable, "sandbox-1",
                                  "TOKEN"};
  std::string_view input{reinterpret_cast<const char*>(data), size};

  // As a whole: nobody without the key makes one that opens.
  if (auto header = read_sealed_header(input)) {
    if (to_bytes(*header) != input.substr(0, sealed_header_bytes))
      std::abort();
    if (cipher.open(input.substr(sealed_header_bytes),
                    associated_data(place, *header)))
      std::abort();
  }

  // As a change of a true one: the input is laid over it.
  sealed_header header{1, 1};
  auto sealed = to_bytes(header)
    + *cipher.seal("the plain text", associated_data(place, header));
  auto changed = sealed;
  for (std::size_t i = 0; i < size && i < changed.size(); ++i)
    changed[i] ^= input[i];
  auto read = read_sealed_header(changed);
  bool opens = read
    && cipher
         .open(std::string_view{changed}.substr(sealed_header_bytes),
               associated_data(place, *read))
         .has_value();
  if (opens != (changed == sealed))
    std::abort();

  static_cast<void>(looks_sealed_by_letta(input));
  return 0;
}
