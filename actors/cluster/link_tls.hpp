#pragma once

#include "actors/protocol/link_options.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace troupe {

enum class link_side : std::uint8_t { dials, answers };

/// TLS 1.3 with a certificate on both sides.
result<std::shared_ptr<boost::asio::ssl::context>>
make_link_context(const link_identity& who, link_side side);

} // namespace troupe
