#pragma once

#include "tests/support/providers/fake_provider.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace troupe::test {

/// What the daemon in a sandbox of Daytona does with files, short commands and
/// git. Its file system begins at `root`; in command lines that holds for paths
/// that begin with /tmp/troupe-.
class daytona_toolbox {
public:
  daytona_toolbox(std::filesystem::path root,
                  std::map<std::string, std::string> env)
      : root_{std::move(root)}, env_{std::move(env)} {}

  /// `call` as "/files/info". Not answered: it is none of these.
  void handle(const std::string& call, const stand_request& r,
              stand_reply& reply) const;
  std::string translated(std::string line) const;

private:
  void files(const std::string& call, const stand_request& r,
             stand_reply& reply) const;
  void upload(const stand_request& r, stand_reply& reply) const;
  void download(const stand_request& r, stand_reply& reply) const;
  void search(const std::string& call, const stand_request& r,
              stand_reply& reply) const;
  void replace(const stand_request& r, stand_reply& reply) const;
  void execute(const stand_request& r, stand_reply& reply) const;
  void run_code(const stand_request& r, stand_reply& reply) const;
  void git(const std::string& call, const stand_request& r,
           stand_reply& reply) const;
  void mixed(program_run what, stand_reply& reply) const;
  std::filesystem::path real(const std::string& path) const {
    return root_ / std::filesystem::path{path}.relative_path();
  }

  std::filesystem::path root_;
  std::map<std::string, std::string> env_;
};

} // namespace troupe::test
