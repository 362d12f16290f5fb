#pragma once

#include "tests/support/hosts/background_program.hpp"
#include "tests/support/providers/fake_provider.hpp"

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace troupe::test {

/// Plays one Agent-Infra container: bash and files under /v1, every answer in
/// the envelope that can say `success: false` with status 200. What is not as
/// its description has it is refused. Its /tmp is a directory of the test's.
class aio_stand_in {
public:
  explicit aio_stand_in(const tls_faces* faces = nullptr);
  ~aio_stand_in();

  std::uint16_t port() const { return server_.port(); }
  stand_in& server() { return server_; }
  static constexpr const char* api_key = "aio-key";
  static constexpr const char* jwt = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"; // or so
  /// Directories of runs that are still there.
  int directories() const;
  /// Whether every session that a command opened is closed, soon.
  bool wait_until_sessions_are_closed();
  /// What was described and asked for so far, as "POST /v1/bash/exec".
  std::set<std::string> known_calls() const;
  /// What was not as described, and why.
  std::vector<std::string> odd_calls() const;

private:
  void handle(const stand_request& r, stand_reply& reply);
  bool is_described(const stand_request& r);
  void execute(const stand_request& r, stand_reply& reply);
  void output(const stand_request& r, stand_reply& reply);
  std::string translated(std::string text) const;

  std::filesystem::path tmp_;
  mutable std::mutex mutex_;
  std::condition_variable closed_;
  std::set<std::string> sessions_;
  std::set<std::string> known_;
  std::vector<std::string> odd_;
  std::map<std::string, std::shared_ptr<background_program>> commands_;
  stand_in server_;
};

} // namespace troupe::test
