#pragma once

#include <boost/asio/ssl/verify_context.hpp>

#include <string>

namespace troupe {

/// Why a link's certificate is not accepted, with the way out: "the certificate
/// is for node-2, not for 10.0.0.7". `trusted`: what OpenSSL says of it; else
/// its name is wrong. `host`: that it should be for.
std::string why_refused(boost::asio::ssl::verify_context& context, bool trusted,
                        const std::string& host);

} // namespace troupe
