#pragma once

#include "tests/support/hosts/background_program.hpp"
#include "tests/support/providers/fake_provider.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace troupe::test {

/// Plays Daytona: control API under /api, toolbox under /toolbox. A sandbox
/// begins in state `creating`, as the real ones do; commands are really run.
class daytona_stand_in {
public:
  explicit daytona_stand_in(const tls_faces* faces = nullptr);
  ~daytona_stand_in();

  std::string api_url() const { return server_.url() + "/api"; }
  stand_in& server() { return server_; }
  static constexpr const char* api_key = "dtn_0123";

  int created() const;
  int alive() const;
  /// How often a sandbox's clock was set back.
  int rejoined() const;
  /// As when nobody used them for long: they stop, and go.
  void stop_everything();
  /// Lists begin with an empty page that is not the last one.
  void list_in_pages();
  /// From now on keys are an organization's tokens, which it is named with,
  /// and sandboxes do not say where their toolbox is.
  void serve_tokens_of(std::string organization);
  /// The body of the newest creation.
  std::string creation() const;

private:
  struct box {
    std::string id;
    std::string name;
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> env;
    int looks = 0; // how often its state was asked for
    std::filesystem::path home;
    std::string state{};            // "": by how often it was looked at
    bool kept_when_stopped = false; // else it is deleted then
    bool session = false;
    std::map<std::string, std::shared_ptr<background_program>> commands;
  };

  void handle(const stand_request& r, stand_reply& reply);
  void control(const stand_request& r, stand_reply& reply);
  void create(const stand_request& r, stand_reply& reply);
  void toolbox(const stand_request& r, stand_reply& reply);
  void manage(const stand_request& r, stand_reply& reply, box& b,
              const std::string& what);
  void run(const stand_request& r, stand_reply& reply, box& b);
  std::string show(const box& b) const;

  mutable std::mutex mutex_;
  std::map<std::string, box> boxes_;
  int created_ = 0;
  int rejoined_ = 0;
  std::filesystem::path tmp_; // a folder per sandbox below
  std::string creation_;
  bool pages_ = false;
  std::string organization_; // "": keys, and toolboxes are said
  stand_in server_;
};

} // namespace troupe::test
