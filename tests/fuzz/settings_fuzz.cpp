// Values of settings, and the lines of a config.ini, from anybody.
#include "runtime/settings/ini_parser.hpp"
#include "runtime/settings/value.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  troupe::parse_ini(text);
  if (text.empty())
    return 0;
  auto& keys = troupe::setting_keys();
  auto& key = keys[data[0] % keys.size()];
  troupe::settings s;
  if (!troupe::assign(s, key, text.substr(1)))
    return 0;
  // What was taken can be spelled, and a spelled secret is a mask.
  auto spelled = troupe::spelled(s, key);
  if (key.is_secret() && spelled != "\"\"" && spelled != "\"***\"")
    std::abort();
  return 0;
}
