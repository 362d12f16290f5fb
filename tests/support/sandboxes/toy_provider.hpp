#pragma once

#include "runtime/engine/sandbox_files.hpp"
#include "runtime/engine/sandbox_kernel.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace troupe::test {

class toy_process;

/// What the toy does not do, or does wrong; set before it is used, or on its
/// thread.
struct toy_habits {
  bool processes = true;
  bool terminals = true;
  bool renew = true;
  bool pause = true;
  bool set_network = true;
  std::atomic<int> failing_networks{0};
  bool outlives_engine = false;
  std::atomic<int> failing_lists{0};
  bool snapshots = true;
  std::atomic<int> failing_snapshots{0};
  std::atomic<bool> hold_snapshots{false}; // until it is false
  bool files = true;
  std::atomic<bool> contexts{true};
  std::atomic<int> failing_kernels{0};
  bool branches = true;
  std::atomic<int> unbranchable_kernels{0};
  std::atomic<int> failing_saves{0}; // that have begun
  std::atomic<int> failing_creations{0};
  std::atomic<int> failing_deletions{0};
  std::atomic<bool> hold_creations{false}; // until it is false, or cancelled
  std::atomic<bool> leave_behind{false};   // of creations that fail
  std::atomic<int> failing_pauses{0};      // and resumptions
  std::atomic<bool> forget{false};         // `reconnect` finds nothing
};

/// Sandboxes for tests: directories, and real processes without any wall. Not
/// for code that is not one's own.
class toy_provider final : public sandbox_provider, private sandbox_files {
public:
  template <class T>
  using later = sandbox_provider::later<T>;

  explicit toy_provider(boost::asio::any_io_executor executor)
      : executor_{std::move(executor)} {}
  ~toy_provider() override;

  backend_kind kind() const override { return backend_kind::local; }
  std::string_view name() const override { return "toy"; }
  sandbox_capabilities capabilities() const override;
  result<void> ready() const override { return {}; }
  std::vector<secret> secrets() const override { return {}; }
  later<sandbox_creation> create(sandbox_request wanted,
                                 call_scope scope) override;
  later<result<sandbox_handle>> reconnect(sandbox_handle box,
                                          std::chrono::seconds lifetime,
                                          call_scope scope) override;
  later<result<void>> pause(const sandbox_handle& box,
                            std::chrono::seconds lifetime,
                            call_scope scope) override;
  later<result<void>> resume(const sandbox_handle& box,
                             std::chrono::seconds lifetime,
                             call_scope scope) override;
  later<result<void>> set_network(const sandbox_handle& box,
                                  network_policy policy,
                                  call_scope scope) override;
  later<result<place_snapshot>> snapshot(const sandbox_handle& box,
                                         call_scope scope) override;
  later<result<void>> rollback(const sandbox_handle& box, std::string snapshot,
                               call_scope scope) override;
  later<result<void>> forget_snapshot(std::string snapshot,
                                      call_scope scope) override;
  /// What a place does that loses one.
  void lose(const std::string& id);
  /// Of all that were taken and not forgotten; on any thread.
  std::size_t kept_snapshots() const { return kept_; }
  /// How often one got another network.
  int networks() const { return networks_; }
  later<process_outcome> execute(const sandbox_handle& box,
                                 process_request what, output_sink sink,
                                 call_scope scope) override;
  later<result<sandbox_process_ptr>>
  start(const sandbox_handle& box, process_request what, bool open_input,
        process_events events, call_scope scope) override;
  later<result<std::shared_ptr<sandbox_kernel>>>
  start_kernel(const sandbox_handle& box, kernel_request what,
               kernel_events events, call_scope scope) override;
  later<result<kernel_image_ptr>>
  save_kernel(const sandbox_handle& box, std::shared_ptr<sandbox_kernel> kernel,
              call_scope scope) override;
  later<process_outcome> run_script(const sandbox_handle& box, language lang,
                                    sandbox_script script, output_sink sink,
                                    call_scope scope) override;
  later<result<void>> destroy(const sandbox_handle& box,
                              call_scope scope) override;
  later<result<std::vector<tagged_sandbox>>> list(call_scope scope) override;
  sandbox_files* files() override { return habits.files ? this : nullptr; }

  toy_habits habits;
  /// How many there are; on any thread.
  std::size_t living() const { return living_; }
  std::chrono::seconds last_lifetime() const {
    return std::chrono::seconds{lifetime_};
  }

private:
  result<void> send_all(const sandbox_handle& box, int signal);
  struct room {
    std::filesystem::path folder;
    std::string tag;
    std::map<std::string, std::string> env;
    std::vector<std::weak_ptr<toy_process>> processes;
    std::function<void(const error&)> lost;
  };

  result<std::filesystem::path> inside(const sandbox_handle& box,
                                       const std::string& path) const;
  result<std::shared_ptr<toy_process>> begin(const sandbox_handle& box,
                                             process_request what,
                                             bool open_input,
                                             process_events events);

  sandbox_files::later<void> do_write(sandbox_handle in,
                                      std::vector<sandbox_file> files,
                                      call_scope scope) override;
  sandbox_files::later<std::string> do_read(sandbox_handle in, std::string path,
                                            call_scope scope) override;
  sandbox_files::later<std::vector<sandbox_entry>>
  do_list(sandbox_handle in, std::string path, call_scope scope) override;
  sandbox_files::later<sandbox_entry>
  do_stat(sandbox_handle in, std::string path, call_scope scope) override;
  sandbox_files::later<void> do_make_folder(sandbox_handle in, std::string path,
                                            call_scope scope) override;
  sandbox_files::later<void> do_move(sandbox_handle in, std::string from,
                                     std::string to, call_scope scope) override;
  sandbox_files::later<void> do_remove(sandbox_handle in, std::string path,
                                       call_scope scope) override;

  boost::asio::any_io_executor executor_;
  tests::temporary_directory folder_;
  std::map<std::string, room> rooms_;
  std::size_t made_ = 0;
  std::atomic<std::size_t> living_{0};
  std::atomic<std::size_t> kept_{0};
  std::atomic<int> networks_{0};
  std::size_t taken_ = 0;
  std::atomic<std::int64_t> lifetime_{0};
};

/// A toy with its thread.
class toy_place {
public:
  toy_place() : provider{std::make_shared<toy_provider>(io_.get_executor())} {}
  ~toy_place() {
    work_.reset();
    io_.stop();
    thread_.join();
  }

  boost::asio::any_io_executor executor() { return io_.get_executor(); }

private:
  boost::asio::io_context io_{1};

public:
  const std::shared_ptr<toy_provider> provider;

private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    work_{io_.get_executor()};
  std::thread thread_{[this] { io_.run(); }};
};

} // namespace troupe::test
