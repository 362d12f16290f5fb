#include "runtime/runner/stdout_frame.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/base/digest.hpp"

#include <openssl/rand.h>

#include <array>
#include <charconv>

namespace troupe::frame {

namespace {

error bad_keyed_frame(std::string reason) {
  return bad_request("read keyed frame: " + std::move(reason));
}

std::string prefix_of(std::string_view key) {
  return "=troupe:" + std::string{key} + ":";
}

} // namespace

result<std::string> make_key() {
  std::array<std::uint8_t, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    error e;
    e.text = "make frame key: no random numbers";
    return e;
  }
  return hex(bytes);
}

result<keyed_answer> read_keyed_frame(std::string_view output,
                                      std::string_view key, std::size_t limit) {
  keyed_answer answer;
  auto prefix = prefix_of(key);
  auto start = output.find(prefix);
  if (start == std::string_view::npos) {
    answer.text = output;
    return answer;
  }
  auto rest = output.substr(start + prefix.size());
  std::size_t length = 0;
  auto [end, failed]
    = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  if (failed != std::errc{} || end == rest.data() + rest.size() || *end != ':')
    return bad_keyed_frame("no length");
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  // Base64 of the largest frame: four characters for three bytes.
  if (length > limit / 3 * 4 + 8)
    return bad_keyed_frame("longer than allowed");
  if (rest.size() <= length || rest[length] != '=')
    return bad_keyed_frame("cut short");
  auto bytes = from_base64(rest.substr(0, length));
  if (bytes.has_error())
    return bytes.error();
  auto m = decode(kind::answer, *bytes, limit);
  if (m.has_error())
    return m.error();
  answer.frame = std::move(*m);
  // The line breaks around the frame are ours as well.
  if (start > 0 && output[start - 1] == '\n')
    --start;
  answer.text = output.substr(0, start);
  rest.remove_prefix(length + 1);
  if (rest.starts_with('\n'))
    rest.remove_prefix(1);
  answer.text += rest;
  return answer;
}

result<std::string> write_keyed_frame(const message& m, std::string_view key) {
  auto bytes = encode(m);
  if (bytes.has_error())
    return bytes.error();
  auto text = to_base64(*bytes);
  return "\n" + prefix_of(key) + std::to_string(text.size()) + ":" + text
    + "=\n";
}

} // namespace troupe::frame
