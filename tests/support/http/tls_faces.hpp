#pragma once

#include "tests/support/http/scripted_server.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace troupe::test {

/// What a stand-in shows who wants to speak TLS with it.
enum class tls_face {
  right,
  expired,
  of_another_name,
  signed_by_itself,
  signed_by_a_stranger,
  too_old,             // it knows no newer TLS than 1.1
  cut,                 // the connection, in the middle of the handshake
  stalled,             // no word to the client's first one
  without_http2,       // it shakes hands and chooses no protocol
  of_another_protocol, // it chooses one that was not asked for
};

/// Certificates for 127.0.0.1, right ones and others, and whom to trust.
class tls_faces {
public:
  /// For clients to trust.
  std::string authority() const { return authority_.file(); }
  /// What a server shakes hands with.
  std::shared_ptr<boost::asio::ssl::context> context(tls_face which) const;
  /// How far it goes with that.
  static handshake manner(tls_face which);

private:
  certificate of(tls_face which) const;

  tests::temporary_directory folder_;
  test_authority authority_{folder_.path(), "authority"};
  test_authority stranger_{folder_.path(), "stranger"};
};

} // namespace troupe::test
