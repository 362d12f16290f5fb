#pragma once

#include "runtime/engine/sandbox.hpp"
#include "runtime/local/launch/cold_launcher.hpp"
#include "runtime/local/sandbox/call_wait.hpp"
#include "runtime/local/sandbox/living_files.hpp"
#include "runtime/local/sandbox/living_sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Sandboxes on this machine. They are made by the engine's one warden and live
/// until they are destroyed, their time is over, or the engine or the warden
/// ends. All calls on `executor`, which is the one of the warden.
class local_sandboxes final
    : public sandbox_provider,
      public std::enable_shared_from_this<local_sandboxes> {
public:
  /// Ends them all.
  ~local_sandboxes() override;

  static std::shared_ptr<local_sandboxes>
  make(boost::asio::any_io_executor executor,
       std::shared_ptr<cold_launcher> wardens);

  backend_kind kind() const override { return backend_kind::local; }
  std::string_view name() const override { return "this machine"; }
  sandbox_capabilities capabilities() const override;
  result<void> ready() const override;
  std::vector<secret> secrets() const override { return {}; }

  later<sandbox_creation> create(sandbox_request wanted,
                                 call_scope scope) override;
  later<result<sandbox_handle>> reconnect(sandbox_handle sandbox,
                                          std::chrono::seconds lifetime,
                                          call_scope scope) override;
  later<process_outcome> execute(const sandbox_handle& sandbox,
                                 process_request what, output_sink sink,
                                 call_scope scope) override;
  later<result<sandbox_process_ptr>>
  start(const sandbox_handle& sandbox, process_request what, bool open_input,
        process_events events, call_scope scope) override;
  later<process_outcome> run_script(const sandbox_handle& sandbox,
                                    language lang, sandbox_script script,
                                    output_sink sink,
                                    call_scope scope) override;
  /// A server that was begun a moment ago gets a moment to listen.
  later<result<unique_fd>> connect(const sandbox_handle& sandbox,
                                   std::uint16_t port,
                                   call_scope scope) override;
  later<result<std::vector<std::uint16_t>>> ports(const sandbox_handle& sandbox,
                                                  call_scope scope) override;
  /// When it has answered, nothing is left.
  later<result<void>> destroy(const sandbox_handle& sandbox,
                              call_scope scope) override;
  later<result<std::vector<tagged_sandbox>>> list(call_scope scope) override;
  sandbox_files* files() override { return &files_; }

  /// What holds each of them.
  isolation_report report() const;

private:
  struct entry {
    std::shared_ptr<living_sandbox> sandbox;
    std::shared_ptr<sandbox_hands> hands = std::make_shared<sandbox_hands>();
    std::string tag;
    std::uint64_t number = 0; // of the warden's order
    std::unique_ptr<boost::asio::steady_timer> lifetime;
    std::shared_ptr<call_wait> change; // it became ready, or it is gone
    bool is_ready = false;
    std::optional<error> gone;
  };
  using entry_ptr = std::shared_ptr<entry>;

  local_sandboxes(boost::asio::any_io_executor executor,
                  std::shared_ptr<cold_launcher> wardens);
  result<entry_ptr> order(const sandbox_request& wanted, const std::string& id);
  void mark_gone(const std::string& id, const entry_ptr& sandbox,
                 const warden::end_notice& how);
  void set_lifetime(const std::string& id, entry& sandbox,
                    std::chrono::seconds lifetime);
  void kill(entry& sandbox, error why);
  result<entry_ptr> find(const sandbox_handle& sandbox) const;
  /// The process, and the wait for its first word.
  struct beginning {
    std::shared_ptr<living_sandbox> sandbox;
    std::shared_ptr<living_process> process;
    std::shared_ptr<call_wait> begun;
    std::shared_ptr<std::optional<error>> refused;
  };
  result<beginning> begin(const sandbox_handle& sandbox, process_request what,
                          bool open_input, process_events events);
  later<result<living_sandbox::keeper_answer>>
  ask(std::shared_ptr<living_sandbox> sandbox, inside::keeper_message question,
      call_scope scope);
  later<result<void>> wait_until_writable(const unique_fd& socket,
                                          call_scope scope);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<cold_launcher> wardens_;
  std::map<std::string, entry_ptr> entries_; // that were not gone yet
  living_files files_;
};

} // namespace troupe
