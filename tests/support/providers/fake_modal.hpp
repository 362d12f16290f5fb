#pragma once

#include "net/providers/modal/provider.hpp"
#include "tests/support/hosts/background_program.hpp"
#include "tests/support/providers/fake_grpc.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace troupe::test {

/// Plays Modal: control plane and command router behind one address. Checks
/// the metadata that the real one demands; processes are really run.
class modal_stand_in {
public:
  /// With faces it speaks TLS.
  explicit modal_stand_in(const tls_faces* faces = nullptr);

  std::string url() const { return server_.url(); }
  grpc_server& server() { return server_; }
  static constexpr const char* token_id = "ak-1";
  static constexpr const char* token_secret = "as-1";
  /// For clients of ours, who ask again at once: nobody here is busy.
  net::modal_options options() const;

  /// As a Modal that does not serve (any more, or yet) the newer sandboxes.
  void serve_older_only(net::grpc_code how = net::grpc_code::unimplemented);
  /// Names the router with https, as their client insists on, who then speaks
  /// in the clear to a Modal on this machine.
  void claim_https();
  /// How the next images end: 1 well, 2 failed, 3 and more given up.
  void end_builds_as(int result);
  /// What the next builds print before they end.
  void print_while_building(std::string log);
  /// As somebody does it at Modal's: ids given out so far are not known more.
  void stop_app();
  void delete_images();
  /// Sandboxes are entered there; "": here.
  void name_router(std::string url);
  /// Those given out so far are not taken any more.
  void end_router_tokens();
  /// Once, when that method is called next: that call is refused for it.
  void end_router_tokens_at(std::string method);
  /// The calls so far, as "SandboxCreateV2".
  std::vector<std::string> calls() const;
  /// Of each of them, "" where there was none.
  std::vector<std::string> traceparents() const;
  /// The fields that a method's messages had, those in messages in them as
  /// "2.22.1", and what its calls said about themselves: to be compared between
  /// two clients.
  std::set<std::string> fields_of(const std::string& method) const;
  std::set<std::string> metadata_of(const std::string& method) const;

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
    bool older = false;
    int looks = 0; // how often its task was asked for
  };

  void handle(grpc_exchange& call);
  void remember(const std::string& method, const grpc_exchange& call);
  std::string router_url() const;
  std::string router_jwt() const;
  void control(std::string_view method, grpc_exchange& call);
  std::string app_id() const { return "ap-" + std::to_string(app_); }
  bool knows_app_and_image(grpc_exchange& call, std::string_view app,
                           std::string_view image) const;
  void image(grpc_exchange& call);
  void create(grpc_exchange& call);
  void create_older(grpc_exchange& call);
  void task(grpc_exchange& call);
  void access(std::string_view method, grpc_exchange& call);
  void list(grpc_exchange& call, bool older);
  void route(std::string_view method, grpc_exchange& call);
  void start(grpc_exchange& call);
  void input(grpc_exchange& call);
  std::shared_ptr<background_program> program_of(const grpc_exchange& call);

  mutable std::mutex mutex_;
  std::map<std::string, box> boxes_;
  std::vector<std::string> image_commands_;
  std::map<std::string, std::pair<net::grpc_code, std::string>> failures_;
  int created_ = 0;
  std::map<std::string, std::map<std::string, std::string>> secrets_;
  net::grpc_code newer_ = net::grpc_code::ok;
  bool https_ = false;
  int build_result_ = 1;
  std::string build_log_;
  int app_ = 1;
  std::set<std::string> images_;
  std::string other_router_;
  int router_tokens_ = 1;
  std::string ends_tokens_; // a method
  std::vector<std::string> calls_;
  std::map<std::string, std::set<std::string>> fields_;
  std::map<std::string, std::set<std::string>> metadata_;
  std::vector<std::string> traceparents_;
  grpc_server server_;
};

} // namespace troupe::test
