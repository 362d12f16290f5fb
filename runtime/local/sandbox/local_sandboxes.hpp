#pragma once

#include "runtime/engine/sandbox_kernel.hpp"
#include "runtime/local/launch/cold_launcher.hpp"
#include "runtime/local/sandbox/call_wait.hpp"
#include "runtime/local/sandbox/living_files.hpp"
#include "runtime/local/sandbox/living_sandbox.hpp"
#include "runtime/local/sandbox/sandbox_layer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct local_sandbox_options {
  std::uint32_t cpus = 0; // that each may use at a time; 0: all there are
  /// So many are made before they are asked for: those that ask for exactly
  /// these limits begin at once.
  std::size_t prepared = 0;
  troupe::limits prepared_limits{};
  /// Of all snapshots together, which lie in memory.
  std::uint64_t snapshot_bytes = 1ull << 30;
  /// To the outside, that one may open at once; then 100 a second.
  std::uint32_t connections = 1'024;
};

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
       std::shared_ptr<cold_launcher> wardens,
       local_sandbox_options options = {});

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
  later<result<void>> pause(const sandbox_handle& sandbox,
                            std::chrono::seconds lifetime,
                            call_scope scope) override;
  later<result<void>> resume(const sandbox_handle& sandbox,
                             std::chrono::seconds lifetime,
                             call_scope scope) override;
  later<result<place_snapshot>> snapshot(const sandbox_handle& sandbox,
                                         call_scope scope) override;
  later<result<void>> rollback(const sandbox_handle& sandbox,
                               std::string snapshot, call_scope scope) override;
  later<result<void>> forget_snapshot(std::string snapshot,
                                      call_scope scope) override;
  later<process_outcome> execute(const sandbox_handle& sandbox,
                                 process_request what, output_sink sink,
                                 call_scope scope) override;
  later<result<sandbox_process_ptr>>
  start(const sandbox_handle& sandbox, process_request what, bool open_input,
        process_events events, call_scope scope) override;
  later<result<std::shared_ptr<sandbox_kernel>>>
  start_kernel(const sandbox_handle& sandbox, kernel_request what,
               kernel_events events, call_scope scope) override;
  later<result<kernel_image_ptr>>
  save_kernel(const sandbox_handle& sandbox,
              std::shared_ptr<sandbox_kernel> kernel,
              call_scope scope) override;
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
  /// `conflict` for one that was made with `off` and has begun processes: those
  /// can never be heard.
  later<result<void>> set_network(const sandbox_handle& sandbox,
                                  network_policy policy,
                                  call_scope scope) override;
  /// When it has answered, nothing is left.
  later<result<void>> destroy(const sandbox_handle& sandbox,
                              call_scope scope) override;
  later<result<std::vector<tagged_sandbox>>> list(call_scope scope) override;
  sandbox_files* files() override { return &files_; }

  /// What holds each of them.
  isolation_report report() const;
  /// How many wait to be asked for.
  std::size_t prepared() const { return prepared_.size(); }

private:
  /// What a sandbox may reach outside.
  struct outside {
    organization_id organization;
    network_policy policy{network_mode::off, {}};
    /// Every command of a sandbox has the same filter: what one that is asked
    /// about has opened could be handed to one that is not.
    bool may_leave = false;
    bool has_begun = false;                    // a command
    std::shared_ptr<network::broker> broker{}; // null: nothing was heard
  };
  struct entry {
    std::string id;
    outside network;
    troupe::limits limits;
    layer_stack stack; // that it was made from
    std::function<void(const error&)> lost;
    std::shared_ptr<living_sandbox> sandbox;
    std::shared_ptr<sandbox_hands> hands = std::make_shared<sandbox_hands>();
    std::string tag;
    std::uint64_t number = 0; // of the warden's order
    std::unique_ptr<boost::asio::steady_timer> lifetime;
    std::shared_ptr<call_wait> ready; // or it never will be
    std::shared_ptr<call_wait> ended; // nothing of it is left
    bool is_ready = false;
    bool is_given = false; // to a caller; else it is a prepared one
    std::optional<error> gone;
    bool is_cut = false;      // what it wrote is a layer now
    bool is_replaced = false; // another one has its name
    bool is_unwanted = false; // it was to be ended
  };
  using entry_ptr = std::shared_ptr<entry>;

  local_sandboxes(boost::asio::any_io_executor executor,
                  std::shared_ptr<cold_launcher> wardens,
                  local_sandbox_options options);
  result<entry_ptr> order(const troupe::limits& limits, layer_stack stack);
  living_sandbox::handler what_it_tells(const entry_ptr& sandbox);
  void mark_gone(const entry_ptr& sandbox, const warden::end_notice& how);
  void set_lifetime(entry& sandbox, std::chrono::seconds lifetime);
  /// Null: none of them is what is wanted.
  entry_ptr take_prepared(const sandbox_request& wanted);
  void prepare_later();
  void prepare_one();
  void kill(entry& sandbox, error why);
  /// The warden's answer about a sandbox; an errno, EPIPE without a warden.
  later<int> ask_about(std::uint64_t sandbox, warden::word what,
                       call_scope scope);
  result<entry_ptr> find(const sandbox_handle& sandbox) const;
  // -- snapshots -------------------------------------------------------------
  using layer_ptr = std::shared_ptr<const sandbox_layer>;
  /// `heard` as soon as it has answered.
  later<warden::end_notice> ask_warden(warden::message m,
                                       std::vector<unique_fd> files,
                                       call_scope scope,
                                       std::function<void(bool)> heard);
  later<void> rest(std::chrono::milliseconds time);
  static std::uint64_t disk_left(const entry& sandbox);
  later<result<void>> hold_still(entry_ptr sandbox, call_scope scope);
  later<result<layer_ptr>> cut(entry_ptr sandbox, call_scope scope);
  later<result<layer_ptr>> copy_written(entry_ptr sandbox, call_scope scope);
  later<result<void>> replace(entry_ptr old, layer_stack stack,
                              call_scope scope);
  result<layer_stack> stack_of(const std::string& snapshot,
                               const troupe::limits& limits) const;
  /// The process, and the wait for its first word.
  struct beginning {
    std::shared_ptr<living_sandbox> sandbox;
    std::shared_ptr<living_process> process;
    std::shared_ptr<call_wait> begun;
    std::shared_ptr<std::optional<error>> refused;
  };
  result<beginning> begin(const sandbox_handle& sandbox, process_request what,
                          bool open_input, process_events events,
                          unique_fd channel = {}, unique_fd input_file = {});
  /// Where it may be written without that its sandbox gets too large.
  later<result<void>> make_room(const sandbox_handle& sandbox,
                                std::uint64_t bytes, call_scope scope);
  later<result<living_sandbox::keeper_answer>>
  ask(std::shared_ptr<living_sandbox> sandbox, inside::keeper_message question,
      call_scope scope);
  later<result<void>> wait_until_writable(const unique_fd& socket,
                                          call_scope scope);
  result<void> check(const network_policy& wanted) const;
  void broker_calls(outside& network, unique_fd listener);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<cold_launcher> wardens_;
  std::map<std::string, entry_ptr> entries_; // that were not gone yet
  const local_sandbox_options options_;
  std::vector<entry_ptr> prepared_; // of the entries
  entry_ptr preparing_;             // null: none
  boost::asio::steady_timer prepare_timer_;
  std::shared_ptr<layer_use> layers_ = std::make_shared<layer_use>();
  std::map<std::string, layer_stack> snapshots_;
  living_files files_;
};

} // namespace troupe
