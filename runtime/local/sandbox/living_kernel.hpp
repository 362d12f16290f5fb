#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/engine/sandbox_kernel.hpp"
#include "runtime/local/sandbox/contexts/kernel_frames.hpp"
#include "runtime/local/sandbox/living_process.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The engine's end of one interpreter in a sandbox of this machine: a process
/// of it, and the channel over which cells go in and events come out.
class living_kernel final : public sandbox_kernel,
                            public std::enable_shared_from_this<living_kernel> {
public:
  static result<std::shared_ptr<living_kernel>>
  make(boost::asio::any_io_executor executor, kernel_events events,
       std::function<void()> ready, unique_fd& its_channel);

  /// What its process is begun with.
  process_events for_process();
  /// The process has been begun.
  void attach(std::shared_ptr<living_process> process);
  /// What it said before it was ready, for the error of one that never was.
  const std::string& first_words() const { return first_words_; }
  /// Nothing is told from here on, and it is killed.
  void abandon();

  // -- images ----------------------------------------------------------------
  /// Whether its program can be saved at all.
  void allow_images(bool it_can) { can_be_saved_ = it_can; }
  /// How it is asked to be saved, and what it says to that: `take` and its
  /// size, then, once it was given a file, `saved`; or `kept` and why. A frame
  /// without a word: it has ended. Another cell can be run when `no_save` was
  /// called.
  using save_answers = std::function<void(const kernels::frame&)>;
  result<void> ask_for_image(save_answers told);
  /// Empty: it is not wanted any more.
  bool give_file(const unique_fd& file);
  void end_save();
  /// It begins from an image: how it goes on there.
  void go_on(const std::map<std::string, std::string>& env);

  std::vector<std::string> lost() const override { return lost_; }
  std::int32_t pid() const override;
  result<void> run(const std::string& code) override;
  void interrupt() override;
  void kill() override;

private:
  using stream = boost::asio::posix::stream_descriptor;

  living_kernel(boost::asio::any_io_executor executor, kernel_events events,
                std::function<void()> ready);
  void hear_later();
  /// False: there is nothing more now.
  bool hear();
  /// False: it is not in the words of the channel.
  bool obey(kernels::frame& from);
  void write_later();
  void read_lost(const kernels::frame& ready);
  bool obey_about_image(const kernels::frame& from);
  /// The cell that runs, if it is that one still.
  void ask_to_stop(std::uint64_t cell, int times);
  /// It has closed its channel, as it does on its way out.
  void expect_end();
  /// It is not an interpreter of ours any more.
  void give_up(const char* why = "");
  void finish(result<process_end> how);

  stream channel_;
  boost::asio::steady_timer ask_again_;
  boost::asio::steady_timer end_by_;
  kernel_events events_;
  std::function<void()> ready_;
  std::shared_ptr<living_process> process_;
  kernels::frame_reader frames_;
  std::string unwritten_; // a cell, and words that ask it to stop
  std::string first_words_;
  save_answers save_answers_; // empty: it is not being saved
  std::vector<std::string> lost_;
  bool can_be_saved_ = false;
  std::string why_; // it was given up; "": the channel was closed
  bool is_given_up_ = false;
  bool is_ready_ = false;
  bool is_busy_ = false;   // with a cell
  std::uint64_t cell_ = 0; // that one, or the last
  bool is_writing_ = false;
  bool over_ = false;
};

} // namespace troupe
