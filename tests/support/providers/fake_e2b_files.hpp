#pragma once

#include "tests/support/providers/fake_provider.hpp"

namespace troupe::test {

/// An envd's files: GET and POST /files, and filesystem.Filesystem. On the
/// disk as it is: our own test programs name folders of their own.
void play_envd_files(const stand_request& r, stand_reply& reply,
                     bool wants_username);

} // namespace troupe::test
