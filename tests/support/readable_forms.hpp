#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace troupe::tests {

/// How `plain` may stand in a file for everybody to read: as it is, in hex, in
/// UTF-16, in base64.
inline std::vector<std::string> readable_forms(const std::string& plain) {
  std::vector<std::string> all{plain};
  std::string hex_text, wide;
  for (unsigned char ch : plain) {
    hex_text += "0123456789abcdef"[ch >> 4];
    hex_text += "0123456789abcdef"[ch & 15];
    wide += static_cast<char>(ch);
    wide += '\0';
  }
  all.push_back(hex_text);
  all.push_back(wide);
  // The middle of its base64, at each of the three offsets.
  static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij"
                                     "klmnopqrstuvwxyz0123456789+/";
  for (std::size_t skip = 0; skip < 3; ++skip) {
    std::string encoded;
    for (auto i = skip; i + 3 <= plain.size(); i += 3) {
      auto bits = static_cast<unsigned char>(plain[i]) << 16
        | static_cast<unsigned char>(plain[i + 1]) << 8
        | static_cast<unsigned char>(plain[i + 2]);
      for (int shift : {18, 12, 6, 0})
        encoded += letters[bits >> shift & 63];
    }
    all.push_back(encoded);
  }
  return all;
}

} // namespace troupe::tests
