#include "runtime/engine/api_key.hpp"

#include "runtime/base/digest.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

namespace troupe {

namespace {

constexpr std::string_view mark = "troupe_";
constexpr std::size_t random_bytes = 32;
constexpr std::size_t random_letters = 43; // 32 bytes, six bits each
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz0123456789-_";

// E2B's clients look at the form of a key before they send it.
constexpr std::string_view e2b_mark = "e2b_";
constexpr std::size_t e2b_digits = 40;

bool is_letter(char c) {
  return letters.find(c) != std::string_view::npos;
}

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

void fill(std::span<unsigned char> bytes) {
  if (getrandom(bytes.data(), bytes.size(), 0)
      != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("no random bytes"); // there is no fallback
}

std::string e2b_text() {
  std::array<unsigned char, e2b_digits / 2> bytes{};
  fill(bytes);
  auto text = std::string{e2b_mark} + hex(bytes);
  wipe(bytes.data(), bytes.size());
  return text;
}

std::string random_text() {
  std::array<unsigned char, random_bytes> bytes{};
  fill(bytes);
  std::string text{mark};
  unsigned bits = 0;
  unsigned count = 0;
  for (auto byte : bytes) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 6; count -= 6)
      text += letters[(bits >> (count - 6)) & 63u];
  }
  text += letters[(bits << (6 - count)) & 63u];
  wipe(bytes.data(), bytes.size());
  return text;
}

} // namespace

std::uint8_t with_included(std::uint8_t scopes) {
  const auto has = [&](scope s) { return (scopes & static_cast<int>(s)) != 0; };
  if (has(scope::operate))
    scopes |= static_cast<std::uint8_t>(scope::admin);
  if (has(scope::admin))
    scopes |= static_cast<std::uint8_t>(scope::run)
      | static_cast<std::uint8_t>(scope::config);
  return scopes;
}

new_key make_api_key(organization_id organization, std::string name,
                     std::uint8_t scopes, key_format format) {
  new_key made{{},
               secret{format == key_format::e2b ? e2b_text() : random_text()}};
  made.record.id = key_id::make();
  made.record.organization = std::move(organization);
  made.record.name = std::move(name);
  made.record.scopes = scopes;
  made.record.hash = hash_key(made.text.reveal());
  made.record.created_at = std::chrono::floor<std::chrono::microseconds>(
    std::chrono::system_clock::now());
  return made;
}

bool is_e2b_key_text(std::string_view text) {
  return text.size() == e2b_mark.size() + e2b_digits
    && text.starts_with(e2b_mark)
    && std::all_of(text.begin() + e2b_mark.size(), text.end(), is_digit);
}

bool is_key_text(std::string_view text) {
  if (is_e2b_key_text(text))
    return true;
  return text.size() == mark.size() + random_letters && text.starts_with(mark)
    && std::all_of(text.begin() + mark.size(), text.end(), is_letter);
}

std::string hash_key(std::string_view text) {
  return hex(sha256(text));
}

} // namespace troupe
