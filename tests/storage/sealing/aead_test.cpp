#include "runtime/base/digest.hpp"
#include "storage/sealing/aead.hpp"
#include "tests/storage/support.hpp"

#include <openssl/evp.h>

#include <memory>
#include <optional>
#include <set>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

BOOST_AUTO_TEST_SUITE(aead_suite)

namespace {

std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(
      std::stoi(std::string{digits.substr(i, 2)}, nullptr, 16));
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  return hex(
    {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

random_source always(std::string bytes) {
  return [bytes](std::span<std::uint8_t> out) -> result<void> {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::uint8_t>(bytes[i % bytes.size()]);
    return {};
  };
}

random_source broken() {
  return [](std::span<std::uint8_t>) -> result<void> {
    return error{ec::internal, "no randomness today", {}, {}};
  };
}

key_bytes some_key() {
  return must(key_bytes::random(system_random()));
}

/// The same by another library; nothing when the tag is wrong.
std::optional<std::string> opened_by_openssl(const key_bytes& key,
                                             std::string_view sealed,
                                             const std::string& aad) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  const auto body
    = sealed.substr(aead::nonce_bytes, sealed.size() - aead::overhead);
  std::string tag{sealed.substr(sealed.size() - aead::tag_bytes)};
  std::string plain(body.size() + aead::tag_bytes, '\0');
  auto* out = reinterpret_cast<unsigned char*>(plain.data());
  int used = 0;
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&::EVP_CIPHER_CTX_free)> c{
    ::EVP_CIPHER_CTX_new(), ::EVP_CIPHER_CTX_free};
  const bool fine = ::EVP_DecryptInit_ex(c.get(), ::EVP_aes_256_gcm(), nullptr,
                                         bytes(key.view()), bytes(sealed))
    && ::EVP_DecryptUpdate(c.get(), nullptr, &used, bytes(aad),
                           static_cast<int>(aad.size()))
    && ::EVP_DecryptUpdate(c.get(), out, &used, bytes(body),
                           static_cast<int>(body.size()))
    && ::EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_SET_TAG,
                             static_cast<int>(tag.size()), tag.data())
    && ::EVP_DecryptFinal_ex(c.get(), out + used, &used);
  plain.resize(body.size());
  return fine ? std::optional{plain} : std::nullopt;
}

} // namespace

BOOST_AUTO_TEST_CASE(agrees_with_another_library_on_every_edge) {
  const auto key = some_key();
  const aead cipher{key, system_random()};
  for (std::size_t size : {0, 1, 15, 16, 17, 31, 32, 33, 4'096, 65'537})
    for (std::size_t more : {0, 1, 13, 16, 20, 65'536}) {
      const std::string plain(size, 'p'), aad(more, 'a');
      const auto sealed = must(cipher.seal(plain, aad));
      BOOST_REQUIRE(opened_by_openssl(key, sealed, aad) == plain);
      // A tag cut short, as GCM itself would allow.
      for (std::size_t lost : {1, 4, 8, 12, 16})
        BOOST_REQUIRE(
          !cipher.open(sealed.substr(0, sealed.size() - lost), aad));
    }
}

// Test case 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega).
BOOST_AUTO_TEST_CASE(computes_what_others_compute) {
  auto key = must(key_bytes::from(
    unhex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")));
  auto plain
    = unhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
            "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
  auto aad = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  aead cipher{key, always(unhex("cafebabefacedbaddecaf888"))};
  auto sealed = must(cipher.seal(plain, aad));
  BOOST_TEST(to_hex(sealed)
             == "cafebabefacedbaddecaf888"
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1"
                "aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                "76fc6ece0f4e1768cddf8853bb2d551b");
  BOOST_TEST(must(cipher.open(sealed, aad)).reveal() == plain);
}

BOOST_AUTO_TEST_CASE(opens_what_it_sealed_of_any_size) {
  auto key = some_key();
  aead cipher{key, system_random()};
  for (std::size_t size : {0, 1, 15, 16, 17, 255, 4096, 131'072}) {
    std::string plain(size, 'x');
    auto sealed = must(cipher.seal(plain, "aad"));
    BOOST_TEST(sealed.size() == size + aead::overhead);
    BOOST_TEST(must(cipher.open(sealed, "aad")).reveal() == plain);
  }
}

BOOST_AUTO_TEST_CASE(refuses_every_flipped_bit_and_every_length) {
  auto key = some_key();
  aead cipher{key, system_random()};
  auto sealed = must(cipher.seal("the plain text", "its place"));
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    auto changed = sealed;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    BOOST_REQUIRE((code_of(cipher.open(changed, "its place")) == ec::denied));
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    BOOST_REQUIRE(!cipher.open(sealed.substr(0, size), "its place"));
  BOOST_TEST(!cipher.open(sealed + '\0', "its place"));
  std::string place = "its place";
  for (std::size_t bit = 0; bit < 8 * place.size(); ++bit) {
    auto changed = place;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    BOOST_REQUIRE(!cipher.open(sealed, changed));
  }
  BOOST_TEST(!cipher.open(sealed, ""));
  BOOST_TEST(must(cipher.open(sealed, place)).reveal() == "the plain text");
}

BOOST_AUTO_TEST_CASE(refuses_another_key) {
  auto mine = some_key();
  auto other = some_key();
  auto sealed = must(aead{mine, system_random()}.seal("x", ""));
  aead cipher{other, system_random()};
  BOOST_TEST((code_of(cipher.open(sealed, "")) == ec::denied));
}

BOOST_AUTO_TEST_CASE(seals_the_same_text_differently_every_time) {
  auto key = some_key();
  aead cipher{key, system_random()};
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i)
    seen.insert(must(cipher.seal("same", "")).substr(0, aead::nonce_bytes));
  BOOST_TEST(seen.size() == 1000u);
}

BOOST_AUTO_TEST_CASE(fails_without_randomness_instead_of_falling_back) {
  auto key = some_key();
  aead cipher{key, broken()};
  BOOST_TEST((code_of(cipher.seal("x", "")) == ec::internal));
  BOOST_TEST(!key_bytes::random(broken()));
}

BOOST_AUTO_TEST_CASE(refuses_a_source_that_repeats_itself) {
  auto key = some_key();
  aead cipher{key, always("stuck")};
  must(cipher.seal("x", ""));
  BOOST_TEST((code_of(cipher.seal("x", "")) == ec::internal));
  aead zeros{key, always(std::string(1, '\0'))};
  BOOST_TEST(!zeros.seal("x", ""));
}

BOOST_AUTO_TEST_CASE(serves_many_threads_with_one_key) {
  auto key = some_key();
  aead cipher{key, system_random()};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto plain = "thread " + std::to_string(t);
      for (int i = 0; i < 500; ++i) {
        auto sealed = cipher.seal(plain, plain);
        auto opened = cipher.open(*sealed, plain);
        wrong += !opened || opened->reveal() != plain;
      }
    });
  for (auto& t : threads)
    t.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(wipes_a_key_that_was_moved_or_ended) {
  auto key = some_key();
  auto copy = key.clone();
  auto moved = std::move(key);
  BOOST_TEST(moved.view() == copy.view());
  BOOST_TEST(key.view() == std::string(32, '\0'));
  alignas(key_bytes) unsigned char place[sizeof(key_bytes)];
  auto* made = new (place) key_bytes{copy.clone()};
  made->~key_bytes();
  BOOST_TEST(std::string(reinterpret_cast<char*>(place), sizeof place)
             == std::string(sizeof place, '\0'));
}

BOOST_AUTO_TEST_CASE(keeps_parts_apart_that_a_separator_would_mix) {
  BOOST_TEST(length_prefixed({"a", "b"}) != length_prefixed({"ab"}));
  BOOST_TEST(length_prefixed({"a:b"}) != length_prefixed({"a", "b"}));
  BOOST_TEST(length_prefixed({"", "a"}) != length_prefixed({"a", ""}));
}

BOOST_AUTO_TEST_SUITE_END()
