#include "runtime/local/sandbox/living_files.hpp"

#include "runtime/json/printable.hpp"
#include "runtime/local/sandbox/hand_errors.hpp"
#include "runtime/local/sandbox/memory_text.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

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

/// Nothing for what is no file.
std::optional<std::uint64_t> size_of(const unique_fd& file) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return std::nullopt;
  return static_cast<std::uint64_t>(about.st_size);
}

/// A file that becomes shorter meanwhile is an error, never padding.
sandbox_files::later<std::string> read_bytes(unique_fd file, std::string path,
                                             std::uint64_t from,
                                             std::uint64_t size) {
  std::string text;
  text.reserve(size);
  while (text.size() < size) {
    const auto at = text.size();
    text.resize(std::min<std::uint64_t>(size, at + piece_bytes));
    const auto n = ::pread(file.get(), text.data() + at, text.size() - at,
                           static_cast<off_t>(from + at));
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

std::string last_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return std::string{path.substr(path.rfind('/') + 1)};
}

} // namespace

sandbox_files::later<hand_answer> living_files::ask(sandbox_handle in,
                                                    hand_message question,
                                                    enclosed with,
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
      file = co_await content_file(with.content);
      if (!file)
        co_return fail(ec::exhausted, "no memory for another file");
    } else if (with.stream) { // ours, too, until it has answered
      file.reset(::fcntl(with.stream.get(), F_DUPFD_CLOEXEC, 3));
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
      co_return hand_refusal(question.what, answer->done.error,
                             answer->done.about.empty() ? question.path
                                                        : answer->done.about);
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
    enclosed with{file.content};
    auto done = co_await ask(in, std::move(question), std::move(with), scope);
    if (!done)
      co_return done.error();
  }
  co_return result<void>{};
}

sandbox_files::later<std::string>
living_files::do_read(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::open, path);
  auto opened = co_await ask(std::move(in), std::move(question), scope);
  if (!opened)
    co_return opened.error();
  const auto size = size_of(opened->file);
  if (!size)
    co_return hand_refusal(hand_word::open, ENXIO, path);
  if (*size > max_file_bytes)
    co_return too_large(path, *size);
  co_return co_await read_bytes(std::move(opened->file), std::move(path), 0,
                                *size);
}

sandbox_files::later<file_part> living_files::do_read_part(sandbox_handle in,
                                                           std::string path,
                                                           byte_range which,
                                                           call_scope scope) {
  auto question = about(hand_word::open, path);
  auto opened = co_await ask(std::move(in), std::move(question), scope);
  if (!opened)
    co_return opened.error();
  const auto size = size_of(opened->file);
  if (!size)
    co_return hand_refusal(hand_word::open, ENXIO, path);
  file_part part;
  part.total = *size;
  const auto place = which.in(part.total);
  if (!place)
    co_return part;
  part.from = place->from;
  auto bytes
    = co_await read_bytes(std::move(opened->file), std::move(path), part.from,
                          std::min(place->size, max_file_bytes));
  if (!bytes)
    co_return bytes.error();
  part.bytes = std::move(*bytes);
  co_return part;
}

sandbox_files::later<std::vector<sandbox_entry>>
living_files::do_list(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::list, path);
  auto listed = co_await ask(std::move(in), std::move(question), scope);
  if (!listed)
    co_return listed.error();
  if (!path.ends_with('/'))
    path += '/';
  std::vector<sandbox_entry> entries;
  entries.reserve(listed->entries.size());
  for (auto& e : listed->entries)
    entries.push_back({e.name, path + e.name, e.kind == file_kind::folder,
                       e.kind == file_kind::file ? e.bytes : 0, e.target});
  co_return entries;
}

sandbox_files::later<sandbox_entry>
living_files::do_stat(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::stat, path);
  auto seen = co_await ask(std::move(in), std::move(question), scope);
  if (!seen)
    co_return seen.error();
  const auto& done = seen->done;
  sandbox_entry entry{last_name(path), path, done.kind == file_kind::folder,
                      done.kind == file_kind::file ? done.bytes : 0,
                      done.about};
  co_return entry;
}

sandbox_files::later<void> living_files::do_make_folder(sandbox_handle in,
                                                        std::string path,
                                                        call_scope scope) {
  auto question = about(hand_word::make_folder, std::move(path));
  auto done = co_await ask(std::move(in), std::move(question), scope);
  co_return done ? result<void>{} : done.error();
}

sandbox_files::later<void> living_files::do_move(sandbox_handle in,
                                                 std::string from,
                                                 std::string to,
                                                 call_scope scope) {
  auto question = about(hand_word::move, std::move(from));
  question.to = std::move(to);
  auto done = co_await ask(std::move(in), std::move(question), scope);
  co_return done ? result<void>{} : done.error();
}

sandbox_files::later<void>
living_files::do_remove(sandbox_handle in, std::string path, call_scope scope) {
  auto question = about(hand_word::remove, std::move(path));
  auto done = co_await ask(std::move(in), std::move(question), scope);
  co_return done ? result<void>{} : done.error();
}

} // namespace troupe
