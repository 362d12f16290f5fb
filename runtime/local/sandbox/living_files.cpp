#include "runtime/local/sandbox/living_files.hpp"

#include "runtime/json/printable.hpp"
#include "runtime/local/sandbox/memory_text.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

using inside::file_kind;
using inside::hand_message;
using inside::hand_word;

/// In one answer, or in one file that is written.
constexpr std::uint64_t max_file_bytes = 64u << 20;

/// What is copied at once: a fraction of a millisecond.
constexpr std::size_t piece_bytes = 1u << 20;

constexpr std::size_t max_idle_hands = 2;
constexpr std::size_t max_busy_hands = 8; // fewer than a keeper has

ec code_of(int error) {
  switch (error) {
  case ENOENT:
    return ec::not_found;
  case ENOSPC:
  case EDQUOT:
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return ec::exhausted;
  case EACCES:
  case EPERM:
  case EROFS:
    return ec::denied;
  default:
    return ec::invalid_request;
  }
}

error refused(int number, const std::string& path) {
  std::string why = std::strerror(number);
  if (number == ENOSPC)
    why = "disk_limit: the sandbox's disk is full; remove files or raise its "
          "limits of bytes and inodes";
  else if (number == ENXIO)
    why = "it is neither a file nor a folder";
  else if (number == EXDEV)
    why = "a folder of the template cannot be moved; copy it";
  else if (number == EBUSY)
    why = "the root and what is mounted stay where they are";
  return fail(code_of(number), "path: '" + printable(path) + "': " + why);
}

error too_large(const std::string& path, std::uint64_t bytes) {
  return fail(ec::exhausted,
              "path: '" + printable(path) + "' has " + std::to_string(bytes)
                + " bytes; at most " + std::to_string(max_file_bytes)
                + " can be taken at once");
}

/// All runs of this machine are served by the same thread: they have their turn
/// between two pieces.
asio::awaitable<void> let_others_on() {
  const auto here = co_await asio::this_coro::executor;
  co_await asio::post(here, asio::use_awaitable);
}

/// A file that becomes shorter meanwhile is an error, never padding.
sandbox_files::later<std::string> read_whole(unique_fd file, std::string path) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    co_return refused(ENXIO, path);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > max_file_bytes)
    co_return too_large(path, size);
  std::string text;
  text.reserve(size);
  while (text.size() < size) {
    const auto at = text.size();
    text.resize(std::min<std::uint64_t>(size, at + piece_bytes));
    const auto n = ::pread(file.get(), text.data() + at, text.size() - at,
                           static_cast<off_t>(at));
    if (n <= 0)
      co_return fail(ec::conflict,
                     "path: '" + printable(path)
                       + "' changed while it was read; read it again");
    text.resize(at + static_cast<std::size_t>(n));
    if (text.size() < size)
      co_await let_others_on();
  }
  co_return text;
}

/// Empty when there is no memory for it.
asio::awaitable<unique_fd> content_file(std::string_view content) {
  auto file = new_memory_text("file");
  while (file && !content.empty()) {
    const auto piece = content.substr(0, piece_bytes);
    if (!append_text(file, piece))
      co_return unique_fd{};
    content.remove_prefix(piece.size());
    if (!content.empty())
      co_await let_others_on();
  }
  if (file && !seal_text(file))
    file.reset();
  co_return std::move(file);
}

hand_message about(hand_word what, std::string path) {
  hand_message m;
  m.what = what;
  m.path = std::move(path);
  return m;
}

std::string last_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return std::string{path.substr(path.rfind('/') + 1)};
}

} // namespace

sandbox_files::later<hand_answer> living_files::ask(sandbox_handle in,
                                                    hand_message question,
                                                    std::string_view content,
                                                    call_scope scope) {
  auto found = find_(in);
  if (!found)
    co_return found.error();
  auto place = *found;
  auto& waiting = place.hands->waiting;
  if (place.hands->busy >= max_busy_hands)
    co_return fail(ec::exhausted,
                   "the sandbox does 8 file calls at once; wait for one");
  ++place.hands->busy;
  const std::shared_ptr<void> counted{
    place.hands.get(), [hands = place.hands](void*) { --hands->busy; }};
  for (;;) {
    std::unique_ptr<hand_client> hand;
    bool waited = false;
    while (!hand && !waiting.empty()) {
      hand = std::move(waiting.back());
      waiting.pop_back();
      waited = hand->is_usable();
      if (!waited)
        hand.reset();
    }
    if (!hand) {
      auto socket = place.sandbox->make_hand();
      if (!socket)
        co_return socket.error();
      hand = std::make_unique<hand_client>(executor_, place.sandbox,
                                           std::move(*socket));
    }
    unique_fd file;
    if (question.what == hand_word::write) {
      file = co_await content_file(content);
      if (!file)
        co_return fail(ec::exhausted, "no memory for another file");
    }
    auto answer = co_await hand->ask(question, std::move(file), scope);
    if (!answer && waited && hand->was_gone())
      continue; // it ended just before: it had nothing to do
    if (!answer)
      co_return answer.error();
    if (hand->is_usable() && waiting.size() < max_idle_hands
        && !place.sandbox->is_over())
      waiting.push_back(std::move(hand));
    if (answer->done.error != 0)
      co_return refused(answer->done.error, question.path);
    co_return answer;
  }
}

sandbox_files::later<void>
living_files::do_write(sandbox_handle in, std::vector<sandbox_file> files,
                       call_scope scope) {
  for (const auto& file : files)
    if (file.content.size() > max_file_bytes)
      co_return too_large(file.path, file.content.size());
  for (const auto& file : files) {
    auto question = about(hand_word::write, file.path);
    auto done = co_await ask(in, std::move(question), file.content, scope);
    if (!done)
      co_return done.error();
  }
  co_return result<void>{};
}

sandbox_files::later<std::string>
living_files::do_read(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::open, path);
  auto opened = co_await ask(std::move(in), std::move(question), {}, scope);
  if (!opened)
    co_return opened.error();
  co_return co_await read_whole(std::move(opened->file), std::move(path));
}

sandbox_files::later<std::vector<sandbox_entry>>
living_files::do_list(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::list, path);
  auto listed = co_await ask(std::move(in), std::move(question), {}, scope);
  if (!listed)
    co_return listed.error();
  if (!path.ends_with('/'))
    path += '/';
  std::vector<sandbox_entry> entries;
  entries.reserve(listed->entries.size());
  for (auto& e : listed->entries)
    entries.push_back({e.name, path + e.name, e.kind == file_kind::folder,
                       e.kind == file_kind::file ? e.bytes : 0});
  co_return entries;
}

sandbox_files::later<sandbox_entry>
living_files::do_stat(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::stat, path);
  auto seen = co_await ask(std::move(in), std::move(question), {}, scope);
  if (!seen)
    co_return seen.error();
  const auto& done = seen->done;
  sandbox_entry entry{last_name(path), path, done.kind == file_kind::folder,
                      done.kind == file_kind::file ? done.bytes : 0};
  co_return entry;
}

sandbox_files::later<void> living_files::do_make_folder(sandbox_handle in,
                                                        std::string path,
                                                        call_scope scope) {
  auto question = about(hand_word::make_folder, std::move(path));
  auto done = co_await ask(std::move(in), std::move(question), {}, scope);
  co_return done ? result<void>{} : done.error();
}

sandbox_files::later<void> living_files::do_move(sandbox_handle in,
                                                 std::string from,
                                                 std::string to,
                                                 call_scope scope) {
  auto question = about(hand_word::move, std::move(from));
  question.to = std::move(to);
  auto done = co_await ask(std::move(in), std::move(question), {}, scope);
  co_return done ? result<void>{} : done.error();
}

sandbox_files::later<void>
living_files::do_remove(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::remove, std::move(path));
  auto done = co_await ask(std::move(in), std::move(question), {}, scope);
  co_return done ? result<void>{} : done.error();
}

} // namespace troupe
