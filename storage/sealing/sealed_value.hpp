#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

enum class sealed_kind : std::uint8_t {
  config_variable,
  agent_variable,
  run,               // the record of one
  idempotent_answer, // what a key was answered
  sandbox,           // the record of one that lives between calls
};

/// Where a sealed value belongs; it opens nowhere else.
struct sealed_place {
  organization_id organization;
  sealed_kind kind = sealed_kind::config_variable;
  std::string owner;     // the id of the config, the agent or the run
  std::string_view name; // the variable's, or the digest of the key
};

/// What stands before the nonce: which format, which version of the
/// organization's key, and how often the record has been written. The last is
/// bound to the text but lies beside it: an old record put back as a whole
/// still opens. Only a count kept elsewhere could tell, and there is none.
struct sealed_header {
  std::uint32_t key_version = 0;
  std::uint64_t record_version = 0;

  friend bool operator==(const sealed_header&, const sealed_header&) = default;
};

inline constexpr std::size_t sealed_header_bytes = 1 + 4 + 8;

std::string to_bytes(const sealed_header& h);
/// `denied` for anything that was not sealed by this version of the format.
result<sealed_header> read_sealed_header(std::string_view sealed);

/// What the tag covers beside the text.
std::string associated_data(const sealed_place& place, const sealed_header& h);

} // namespace troupe
