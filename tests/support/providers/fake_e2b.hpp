#pragma once

#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_e2b_contexts.hpp"
#include "tests/support/providers/fake_provider.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace troupe::test {

/// Plays E2B: the control plane, envd and the code interpreter behind one
/// address. Refuses what the real one refuses, and really runs what it is
/// sent (as this user: only for our own test programs).
class e2b_stand_in {
public:
  explicit e2b_stand_in(const tls_faces* faces = nullptr);

  std::string url() const { return server_.url(); }
  stand_in& server() { return server_; }
  static constexpr const char* api_key = "e2b_0123456789abcdef";

  struct box {
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> env;
    std::string creation{}; // the body as received
    bool paused = false;
    bool closed = false; // to those who have no token for its ports
  };
  std::map<std::string, box> boxes() const;
  int created() const;
  int destroyed() const;
  /// How often a sandbox was taken up again.
  int rejoined() const;
  /// As at the end of their lifetime: sandboxes and their streams are gone.
  void end_everything();
  /// A sandbox of an engine that died; its lease's tag.
  std::string leave_one_behind();
  /// Until the last one was ended.
  void wait_until_empty();
  /// Lists begin with an empty page that is not the last one.
  void list_in_pages();
  /// As of a template that was built long ago.
  void speak_as(std::string envd_version);

private:
  int carry_out(program_run program);
  void handle(const stand_request& r, stand_reply& reply);
  void create(const stand_request& r, stand_reply& reply);
  void connect(const stand_request& r, stand_reply& reply);
  void list(const stand_request& r, stand_reply& reply);
  void start(const stand_request& r, stand_reply& reply, const box& b);
  static void end(stand_reply& reply, int code);
  void input(const stand_request& r, stand_reply& reply);
  void execute(const stand_request& r, stand_reply& reply, const box& b);
  void manage(const stand_request& r, stand_reply& reply);
  std::string shown(const std::string& id, const box& b) const;
  std::string described(const std::string& id, const box& b) const;
  bool is_before(std::string_view version) const {
    std::lock_guard guard{mutex_};
    return envd_ < version;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, box> boxes_;
  std::map<int, std::string> inputs_;
  std::set<int> running_;             // processes
  std::map<int, json::object> lines_; // how they were begun
  bool waits_for_input_ = false;      // one of them
  bool killed_ = false;               // that one
  int next_ = 1;
  int destroyed_ = 0;
  int rejoined_ = 0;
  std::string envd_ = "0.6.0"; // of one digit each: they compare as text
  bool pages_ = false;
  code_contexts contexts_;
  stand_in server_;
};

} // namespace troupe::test
