#pragma once

#include "runtime/engine/sandbox_files.hpp"
#include "runtime/local/sandbox/hand_client.hpp"
#include "runtime/local/sandbox/living_sandbox.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace troupe {

/// The hands of one sandbox.
struct sandbox_hands {
  std::vector<std::unique_ptr<hand_client>> waiting; // two at most
  std::size_t busy = 0;
  std::size_t watching = 0;
};

/// The files of sandboxes on this machine: every path is resolved inside, by a
/// process of the sandbox's user, and never by the engine.
class living_files final : public sandbox_files {
public:
  struct place {
    std::shared_ptr<living_sandbox> sandbox;
    std::shared_ptr<sandbox_hands> hands;
  };
  /// `not_found` for one that is gone.
  using find_fn = std::function<result<place>(const sandbox_handle&)>;

  living_files(boost::asio::any_io_executor executor, find_fn find)
      : executor_{std::move(executor)}, find_{std::move(find)} {}

private:
  later<void> do_write(sandbox_handle in, std::vector<sandbox_file> files,
                       call_scope scope) override;
  later<std::string> do_read(sandbox_handle in, std::string path,
                             call_scope scope) override;
  later<std::vector<sandbox_entry>> do_list(sandbox_handle in, std::string path,
                                            call_scope scope) override;
  later<sandbox_entry> do_stat(sandbox_handle in, std::string path,
                               call_scope scope) override;
  later<void> do_make_folder(sandbox_handle in, std::string path,
                             call_scope scope) override;
  later<void> do_move(sandbox_handle in, std::string from, std::string to,
                      call_scope scope) override;
  later<void> do_remove(sandbox_handle in, std::string path,
                        call_scope scope) override;

  later<file_part> do_read_part(sandbox_handle in, std::string path,
                                byte_range which, call_scope scope) override;
  later<files_found> do_search(sandbox_handle in, file_search what,
                               call_scope scope) override;
  later<archive_count> do_pack(sandbox_handle in, std::string path,
                               unique_fd to, call_scope scope) override {
    return transfer(std::move(in), inside::hand_word::pack, std::move(path),
                    std::move(to), std::move(scope));
  }
  later<archive_count> do_unpack(sandbox_handle in, std::string path,
                                 unique_fd from, call_scope scope) override {
    return transfer(std::move(in), inside::hand_word::unpack, std::move(path),
                    std::move(from), std::move(scope));
  }
  later<file_watch_ptr> do_watch(sandbox_handle in, std::string path, bool deep,
                                 file_watch_events events,
                                 call_scope scope) override;

  /// An archive on its way out or in.
  later<archive_count> transfer(sandbox_handle in, inside::hand_word which,
                                std::string path, unique_fd stream,
                                call_scope scope);

  /// What goes with a question: what is to be in a file, or a stream.
  struct enclosed {
    std::string_view content{};
    unique_fd stream{};
  };
  /// Asks a hand; what it refused is an error about the path.
  later<hand_answer> ask(sandbox_handle in, inside::hand_message question,
                         enclosed with, call_scope scope);
  later<hand_answer> ask(sandbox_handle in, inside::hand_message question,
                         call_scope scope) {
    return ask(std::move(in), std::move(question), enclosed{},
               std::move(scope));
  }

  boost::asio::any_io_executor executor_;
  find_fn find_;
};

} // namespace troupe
