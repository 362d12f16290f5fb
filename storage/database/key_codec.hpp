#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// How a key is spelled: components, each behind its length in four bytes, the
/// first one the organization. Lengths in front mean that no component can
/// imitate a border, whatever bytes it holds, and that a prefix of whole
/// components matches exactly the keys that begin with those components.
namespace troupe::key_codec {

std::string encode(std::initializer_list<std::string_view> components);

/// The key of something that belongs to an organization.
std::string encode(const organization_id& organization,
                   std::initializer_list<std::string_view> rest = {});

/// The key of something that belongs to the store itself: its organization is
/// empty, which no tenant's can be.
std::string encode_global(std::initializer_list<std::string_view> rest);

/// The components, or `internal` if the key was not spelled here.
result<std::vector<std::string_view>> split(std::string_view key);

/// Eight bytes that sort as the number does.
std::string number(std::uint64_t n);
result<std::uint64_t> read_number(std::string_view bytes);

/// The smallest key after all keys that begin with `prefix`; "" when there is
/// none, because the prefix is empty or nothing but 0xff.
std::string prefix_end(std::string_view prefix);

} // namespace troupe::key_codec
