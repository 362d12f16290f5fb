#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_st;
struct evp_md_ctx_st;

namespace troupe {

using sha256_digest = std::array<std::uint8_t, 32>;

sha256_digest sha256(std::string_view bytes);
/// Of the parts one after the other.
sha256_digest sha256_joined(std::initializer_list<std::string_view> parts);

/// Of what comes in pieces. The algorithm is looked up and its state allocated
/// once: for a few hundred bytes that costs more than the digest itself.
class sha256_hasher {
public:
  sha256_hasher();

  void add(std::string_view bytes);
  /// What is added afterwards belongs to another digest.
  sha256_digest end();

private:
  std::unique_ptr<evp_md_st, void (*)(evp_md_st*)> sha256_;
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> state_;
};

/// Lower case.
std::string hex(std::span<const std::uint8_t> bytes);

/// The digest as one big-endian number, in decimal, without padding.
std::string decimal(const sha256_digest& digest);

} // namespace troupe
