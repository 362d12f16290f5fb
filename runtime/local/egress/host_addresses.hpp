#pragma once

#include "runtime/model/address.hpp"

#include <string_view>

namespace troupe::network {

/// Why the host itself would answer at an address, "" when it would not. Asked
/// of the kernel's routes each time, since a host's addresses come and go; an
/// address that cannot be asked about counts as the host's own.
std::string_view own_address(const ip_address& a) noexcept;

/// Why an address is closed to a run on this host, "" when it is not.
std::string_view closed_address(const ip_address& a) noexcept;

} // namespace troupe::network
