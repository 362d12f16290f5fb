#include "storage/sealing/sealed_value.hpp"

#include "storage/database/key_codec.hpp"
#include "storage/sealing/aead.hpp"

namespace troupe {

namespace {

// On disk: never change what a number means, add a new one.
constexpr char sealed_format = 1;
constexpr std::size_t version_at = 1;
constexpr std::size_t record_at = 5;

std::string_view to_text(sealed_kind kind) {
  switch (kind) {
  case sealed_kind::config_variable:
    return "config variable";
  case sealed_kind::agent_variable:
    return "agent variable";
  case sealed_kind::run:
    return "run";
  case sealed_kind::idempotent_answer:
    return "idempotent answer";
  case sealed_kind::sandbox:
    return "sandbox";
  }
  return "unknown";
}

} // namespace

std::string to_bytes(const sealed_header& h) {
  std::string bytes(1, sealed_format);
  bytes += key_codec::number(h.key_version).substr(4);
  return bytes += key_codec::number(h.record_version);
}

result<sealed_header> read_sealed_header(std::string_view sealed) {
  if (sealed.size() < sealed_header_bytes + aead::overhead)
    return error{ec::denied, "a sealed value is too short", {}, {}};
  if (sealed.front() != sealed_format)
    return error{ec::denied,
                 "a sealed value has the unknown format "
                   + std::to_string(static_cast<unsigned char>(sealed.front())),
                 {},
                 {}};
  auto version = key_codec::read_number(
    std::string(4, '\0') + std::string{sealed.substr(version_at, 4)});
  auto record = key_codec::read_number(sealed.substr(record_at, 8));
  if (!version || !record)
    return error{ec::denied, "a sealed value has no header", {}, {}};
  return sealed_header{static_cast<std::uint32_t>(*version), *record};
}

std::string associated_data(const sealed_place& place, const sealed_header& h) {
  return length_prefixed({"troupe sealed value", to_bytes(h),
                          place.organization.str(), to_text(place.kind),
                          place.owner, place.name});
}

} // namespace troupe
