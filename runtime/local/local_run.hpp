#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/local/launch/launcher.hpp"
#include "runtime/local/output_capture.hpp"
#include "runtime/runner/program.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace troupe {

/// One run on the engine's side: its pipes, its clock, its result. Whoever
/// carries it, it looks the same from here. Used on one strand.
class local_run : public std::enable_shared_from_this<local_run> {
public:
  using clock = std::chrono::steady_clock;

  local_run(boost::asio::any_io_executor strand, prepared_run_ptr run,
            run_observer_ptr observer, bool end_on_output_limit);

  const prepared_run& request() const { return *run_; }

  /// Compiles the source instead of running it: `told` gets the answer, or "".
  void only_compile(std::function<void(std::string)> told) {
    purpose_ = purpose::compile;
    told_ = std::move(told);
  }
  /// Derives a schema from the source instead of running it; the same.
  void only_derive_schema(std::function<void(std::string)> told) {
    purpose_ = purpose::schema;
    told_ = std::move(told);
  }
  bool compile_only() const { return purpose_ != purpose::run; }

  /// Makes the pipes and what a carrier needs; an error is the end of it.
  /// `code` is the source in compiled form, or "".
  result<launch> prepare(const script::program_paths& paths,
                         std::vector<warden::start_order::mount_source> shown,
                         std::string_view code);

  /// Before it is carried: its process has descriptors of its own already, and
  /// these are our ends of them.
  void use_channels(parent_fds ends);

  /// Hands itself to the carrier. `done` is called last.
  void carry(launcher& carrier, launch what, std::function<void()> done);

  /// From now on what it says is read as it comes (deferred_reader.hpp). False:
  /// not all of it can be watched now.
  bool watch();

  /// Ends early, with this reason.
  void end(exit_reason why);

  /// Never got a carrier: tells the observer.
  void fail(error why);
  void finish_unstarted(exit_reason why, std::string detail);

private:
  enum class purpose : std::uint8_t { run, compile, schema };
  result<script::program> make_program(const script::program_paths& paths,
                                       std::string_view code) const;
  void on_started();
  void on_ended(process_exit ending);
  void log_decisions(const process_exit& ending) const;
  run_result assemble(const process_exit& ending);
  void set_reason(const process_exit& ending, run_result& r) const;
  void attribute_to_limit(const process_exit& ending, run_result& r,
                          bool has_answered) const;
  void arm_wall_clock();

  boost::asio::any_io_executor strand_;
  prepared_run_ptr run_;
  run_observer_ptr observer_;
  bool end_on_output_limit_;
  std::size_t answer_limit_ = 0;
  secret request_;
  std::optional<output_capture> out_;
  std::optional<output_capture> err_;
  std::optional<output_capture> answer_;
  std::optional<input_feed> request_writer_;
  boost::asio::steady_timer wall_;
  launcher* carrier_ = nullptr;
  std::function<void()> done_;
  purpose purpose_ = purpose::run;
  std::function<void(std::string)> told_; // the answer, when it only reads
  std::optional<exit_reason> asked_;      // why we had it killed
  clock::time_point arrived_ = clock::now();
  clock::time_point carried_{};
  clock::time_point started_{};
  bool has_started_ = false;
};

} // namespace troupe
