#pragma once

#include "tests/support/background_program.hpp"
#include "tests/support/grpc_stand_in.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::test {

/// Plays Modal: control plane and command router behind one address. Checks
/// the metadata that the real one demands; processes are really run.
class modal_stand_in {
public:
  modal_stand_in();

  std::string url() const { return server_.url(); }
  grpc_server& server() { return server_; }
  static constexpr const char* token_id = "ak-1";
  static constexpr const char* token_secret = "as-1";

  int created() const;
  int alive() const;
  std::vector<std::string> image_commands() const;
  /// The next call of that method ends so, once; `details` is base64.
  void fail_next(std::string method, net::grpc_code code,
                 std::string details = {});

private:
  struct box {
    std::string task;
    std::map<std::string, std::string> env;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::shared_ptr<background_program>> programs;
    std::map<std::string, program_run> waiting_for_input;
    std::map<std::string, std::string> inputs;
  };

  void handle(grpc_exchange& call);
  void control(std::string_view method, grpc_exchange& call);
  void image(grpc_exchange& call);
  void create(grpc_exchange& call);
  void list(grpc_exchange& call);
  void route(std::string_view method, grpc_exchange& call);
  void start(grpc_exchange& call);
  void input(grpc_exchange& call);
  std::shared_ptr<background_program> program_of(const grpc_exchange& call);

  mutable std::mutex mutex_;
  std::map<std::string, box> boxes_;
  std::vector<std::string> image_commands_;
  std::map<std::string, std::pair<net::grpc_code, std::string>> failures_;
  int created_ = 0;
  grpc_server server_;
};

} // namespace troupe::test
