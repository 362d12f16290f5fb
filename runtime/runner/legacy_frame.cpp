#include "runtime/runner/legacy_frame.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/base/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstdint>

namespace troupe::frame {

namespace {

// UUIDv5 of "local-sandbox-result-start-marker" in the DNS namespace.
constexpr std::string_view marker{
  "\x92\xc8\xe4\x98\x43\xd3\x5f\xb3\x91\x9d\xa6\x9e\xb3\xe5\xc5\xc6", 16};
constexpr std::size_t length_bytes = 4;
constexpr std::size_t checksum_bytes = 32;

// A checksum of the old format; it protects from nothing but accidents.
std::string md5_hex(std::string_view bytes) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(),
                 nullptr)
      != 1)
    return {};
  return hex(std::span{digest}.first(size));
}

error corrupted() {
  error e;
  e.code = ec::invalid_request;
  e.text = "Function ran, but output is corrupted.";
  return e;
}

} // namespace

result<legacy_answer> read_legacy_frame(std::string_view output,
                                        std::size_t limit) {
  legacy_answer answer;
  auto start = output.find(marker);
  if (start == std::string_view::npos) {
    answer.text = output;
    return answer;
  }
  auto rest = output.substr(start + marker.size());
  if (rest.size() < length_bytes + checksum_bytes)
    return corrupted();
  std::size_t length = 0;
  for (char c : rest.substr(0, length_bytes))
    length = length << 8 | static_cast<unsigned char>(c);
  auto checksum = rest.substr(length_bytes, checksum_bytes);
  rest.remove_prefix(length_bytes + checksum_bytes);
  if (length > limit || length > rest.size())
    return corrupted();
  auto payload = rest.substr(0, length);
  if (md5_hex(payload) != checksum)
    return corrupted();
  answer.found = true;
  answer.envelope = payload;
  answer.text = output.substr(0, start);
  answer.text += rest.substr(length);
  return answer;
}

result<std::string> read_legacy_text(std::string_view text, std::size_t limit) {
  if (text.size() > limit / 3 * 4 + 8)
    return corrupted();
  if (auto bytes = from_base64(text); bytes.has_value())
    return bytes;
  return std::string{text};
}

std::string write_legacy_frame(std::string_view envelope) {
  std::string out{marker};
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(envelope.size() >> shift & 0xFF);
  out += md5_hex(envelope);
  out += envelope;
  return out;
}

} // namespace troupe::frame
