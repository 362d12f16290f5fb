#pragma once

#include "tests/support/stand_in_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/test_authority.hpp"

#include <string>

namespace troupe::test {

/// Certificates for 127.0.0.1, right ones and others, and whom to trust.
class tls_faces {
public:
  certificate of(tls_face which) const {
    switch (which) {
    case tls_face::expired:
      return read(authority_.sign("expired", here, {-7'200, -3'600}));
    case tls_face::of_another_name:
      return read(authority_.sign("other", "DNS:other.example"));
    case tls_face::signed_by_itself:
      return make_certificate("127.0.0.1");
    case tls_face::right:
    case tls_face::cut:
      break;
    }
    return read(authority_.sign("right", here));
  }

  /// For clients to trust.
  std::string authority() const { return authority_.file(); }

private:
  static constexpr const char* here = "DNS:localhost,IP:127.0.0.1";

  static certificate read(const test_authority::files& made) {
    return {slurp(made.certificate).value(), slurp(made.key).value()};
  }

  tests::temporary_directory folder_;
  test_authority authority_{folder_.path(), "authority"};
};

} // namespace troupe::test
